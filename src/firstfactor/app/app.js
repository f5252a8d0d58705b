// The page of `firstfactor app`. One state; a function renders each part of the page from it. Whatever comes from a
// table is set as text, never as markup. Every change is a new object of settings: it becomes a step, and is ranked.
(() => {
  "use strict";
  const FEW = 40, MORE = 200, PATIENCE = 500; // rows shown at first and on request; milliseconds before progress is shown
  const DEFAULTS = { response_scale: "values", rule: "calibrated", alpha: 0.1, control: "fwer", goal: "explain", leaks: "warn" };
  const CHOICES = {
    rule: ["Rule", { calibrated: "Calibrated: needs evidence", paper: "Paper’s" }],
    goal: ["Goal", { explain: "Explain", predict: "Predict" }],
    control: ["Errors to control", { fwer: "Any false factor", fdr: "Share of false factors" }],
    response_scale: ["Response as", { "values": "Values", ranks: "Ranks", "normal-scores": "Normal scores" }],
    leaks: ["Columns that contain the target", { warn: "Keep and warn", drop: "Drop", keep: "Keep" }],
  };
  const state = {
    start: null, session: null,
    steps: [], at: -1, // what was done, and the step that is in force
    result: null, before: null, shownStep: null, // the ranking that is shown, and the one before it
    run: null, looks: new AbortController(), message: "",
    chosen: new Set(), open: new Set(), sort: "rank", find: "", room: {},
  };

  // --- elements ---------------------------------------------------------------------------------------------------
  const $ = id => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  function h(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
      else if (name === "class") element.className = value;
      else if (name in element && !name.includes("-") && name !== "list") element[name] = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
    return element;
  }
  const button = (text, click, properties = {}) => h("button", { type: "button", on: { click }, ...properties }, text);
  // A button in a row: what it does is shown, and of what is said to who does not see the row.
  const action = (text, of, click) => button([text, hidden(` ${of}`)], click, { class: "link", "data-key": `${text} ${of}` });
  const hidden = text => h("span", { class: "label" }, text);
  const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const listed = (names, most = 3) => names.length <= most ? names.join(", ") : `${names.slice(0, most - 1).join(", ")} and ${names.length - most + 1} more`;
  const percent = share => `${Math.round(100 * share)} %`;
  const width = share => `${100 * Math.min(Math.max(share, 0), 1)}%`;
  const say = text => { $("live").textContent = text; };

  // Renders a part anew and keeps the focus in it, on the control of the same key or, if that is gone, on its neighbour.
  function fill(container, ...children) {
    const active = container.contains(document.activeElement) ? document.activeElement : null;
    const place = active ? focusable(container).indexOf(active) : -1, key = active?.dataset.key;
    container.replaceChildren(...children.flat().filter(Boolean));
    if (!active) return;
    const now = focusable(container);
    (now.find(each => key && each.dataset.key === key) || now[Math.min(place, now.length - 1)] || $("headline")).focus();
  }
  const focusable = container => [...container.querySelectorAll("button, input, select")];

  // --- the server -------------------------------------------------------------------------------------------------
  async function ask(path, options = {}) {
    let response;
    try {
      response = await fetch(path, options);
    } catch (fault) {
      if (fault.name === "AbortError") throw fault;
      throw new Error("There is no answer. Does “firstfactor app” still run in the terminal?");
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw Object.assign(new Error(body.error || `The request failed (${response.status}).`), { status: response.status });
  }
  const json = async (path, options) => (await ask(path, options)).json();
  const post = (path, body) => ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const addressOf = session => `/api/sessions/${encodeURIComponent(session)}`;
  const at = (path, parameters = {}) => `${addressOf(state.session.session)}/${path}?${new URLSearchParams(parameters)}`;

  async function* linesOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) yield JSON.parse(line);
    }
    if (rest.trim()) yield JSON.parse(rest);
  }

  function fail(fault) {
    if (fault.name === "AbortError") return;
    state.message = fault.message;
    renderDock();
  }

  // --- opening a table --------------------------------------------------------------------------------------------
  async function open(request, text) {
    if (state.run) cancel();
    const run = begin(text), controller = new AbortController();
    run.cancel = () => controller.abort();
    try {
      const session = await json(request.path, { method: "POST", signal: controller.signal, ...request.options });
      if (state.session) close(state.session);
      enter(session);
      show("choose");
    } catch (fault) {
      fail(fault);
    } finally {
      end(run);
    }
  }
  const asJSON = body => ({ path: "/api/sessions", options: { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } });

  function openFile(file) {
    if (!file) return;
    const { name } = file, most = state.start.max_bytes;
    if (file.size > most) return fail(new Error(`${name} is larger than ${size(most)}. Name it on the command line: firstfactor app ${name}`));
    const options = { body: file, headers: { "Content-Type": "application/octet-stream" } };
    open({ path: `/api/sessions?${new URLSearchParams({ name })}`, options }, `Reading ${name}`);
  }
  const size = bytes => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;

  function enter(session) {
    Object.assign(state, { session, steps: [], at: -1, result: null, before: null, shownStep: null, sort: "rank", find: "", room: {} });
    state.chosen.clear();
    state.open.clear();
    rows.clear();
    delete $("chart").dataset.result;
    for (const id of ["ins", "outs", "controls", "result-columns"]) $(id).replaceChildren();
    $("find").value = "";
    renderTop();
    renderColumns();
  }

  const close = session => ask(addressOf(session.session), { method: "DELETE" }).catch(() => {});

  function leave() {
    if (state.run) cancel();
    close(state.session);
    state.session = null;
    show("start");
  }

  function show(view) {
    state.view = view;
    for (const id of ["start", "choose", "result"]) $(id).hidden = id !== view;
    $("another").hidden = view === "start";
    renderTop();
    keep();
    scrollTo(0, 0);
    if (view !== "start") $(view === "choose" ? "choose-title" : "headline").focus({ preventScroll: true });
  }

  function renderTop() {
    const { session, result } = state;
    $("table-name").textContent = session ? `${session.name} · ${count(session.n_rows, "row")} · ${count(session.columns.length, "column")}` : "";
    const asked = state.view === "result" && result && `What ${labelOf(result.target)} depends on`;
    document.title = [asked, session?.name, "firstfactor"].filter(Boolean).join(" · ");
  }

  function renderStart() {
    const { formats, max_bytes, given, demos } = state.start;
    const plain = formats.filter(format => !format.endsWith(".gz"));
    $("formats").textContent = `${plain.join(" ")}${plain.length < formats.length ? ", gzipped or not" : ""}, up to ${size(max_bytes)}`;
    $("file").accept = formats.join(",");
    $("given").hidden = !given;
    const choice = (text, name, request) => button(text, () => open(asJSON(request), `Reading ${name}`), { "data-key": name });
    if (given) $("given").replaceChildren(choice(`Open ${given.name}`, given.name, { given: true }));
    $("demos").replaceChildren(...demos.map(({ name, title }) => h("li", {}, choice([name, h("small", {}, title)], name, { demo: name }))));
  }

  // --- columns ----------------------------------------------------------------------------------------------------
  const columnOf = name => state.session.columns.find(column => column.name === name);
  const labelOf = name => columnOf(name)?.label ?? name;
  const labels = names => listed(names.map(labelOf));

  function renderColumns() {
    const { session } = state;
    $("remarks").replaceChildren(...session.remarks.map(remark => h("li", {}, remark)));
    const suggested = session.target && button(`Explain ${labelOf(session.target)}`, () => explain(session.target), { class: "primary" });
    $("choose-columns").replaceChildren(suggested ? h("p", { class: "perhaps" }, suggested, " or another column:") : "", columnList(pickRow));
  }

  function moreButton(what, room, n, click) {
    const text = `Show ${Math.min(MORE, n - room)} more of ${n.toLocaleString("en")}${what}`;
    return n > room && button(text, click, { "data-key": `more${what}` });
  }

  // A list of columns of which the first are shown, with a field to find others.
  function columnList(row) {
    const { columns } = state.session, list = h("ul", { class: "columns" }), more = h("p", { class: "more-rows" });
    let room = FEW, find = "";
    const render = () => {
      const found = columns.filter(column => column.label.toLowerCase().includes(find));
      fill(list, found.slice(0, room).map(row));
      fill(more, moreButton("", room, found.length, () => { room += MORE; render(); }), !found.length && "No column has such a name.");
    };
    const input = event => { find = event.target.value.toLowerCase(); room = FEW; render(); };
    const search = { type: "search", class: "finder", placeholder: "Find a column", "aria-label": "Find a column", on: { input } };
    const finder = columns.length > 12 && h("input", search);
    render();
    return h("div", {}, finder, list, more);
  }

  function columnRow(column, name, last) {
    const { label, kind, missing, n_values, left_out } = column;
    return h("li", { class: left_out ? "out" : "" },
      h("div", { class: "name-cell" }, name, column.name === state.session.target && h("span", { class: "tag" }, "suggested")),
      h("span", { class: "histogram-cell" }, histogram(column)),
      h("span", { class: "cell kind-cell" }, kind),
      h("span", { class: "cell values-cell" }, count(n_values, "value")),
      h("span", { class: `cell missing-cell${missing ? " some-missing" : ""}` }, missing ? `${missing.toLocaleString("en")} missing` : hidden("none missing")),
      h("div", { class: "cell last-cell" }, left_out ? `not used: ${left_out}` : last ? null : sayValues(column), last));
  }
  const sayValues = ({ low, high, levels }) => levels?.length ? listed(levels.map(String), 4) : low === null ? null : `${short(low)} to ${short(high)}`;
  const short = value => typeof value !== "number" ? value
    : value.toLocaleString("en", { maximumSignificantDigits: 4, useGrouping: Math.abs(value) >= 10000 });
  function pickRow(column) {
    const { name, label } = column;
    return columnRow(column, button(label, () => explain(name), { class: "name pick", "data-key": name, title: `Explain ${label}` }));
  }

  function histogram({ histogram: bars, label }) {
    if (!bars || !bars.counts.length) return null;
    const counts = bars.levels ? bars.counts.slice(0, 12) : bars.counts, most = Math.max(...counts, 1);
    const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "path");
    svg.setAttribute("viewBox", `0 0 ${Math.max(counts.length, bars.levels ? 4 : 1)} 1`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("class", "histogram");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", bars.levels ? `Most frequent values of ${label}: ${bars.levels.slice(0, 3).join(", ")}` : `Histogram of ${label}`);
    const gap = bars.levels ? 0.25 : 0.06;
    path.setAttribute("d", counts.map((n, i) => `M${i} 1v${-n / most}h${1 - gap}V1z`).join(""));
    svg.append(path);
    return svg;
  }

  // --- settings: what is in force, and in words -------------------------------------------------------------------
  const settings = () => state.steps[state.at]?.settings ?? {};
  const LISTS = ["drop", "forced", "categorical"];
  const WORDS = { // when it is set, and when it is taken back
    target: [name => `Explain ${name}`, null],
    drop: [names => `Leave out ${names}`, names => `${names} back in`],
    forced: [names => `Control for ${names}`, names => `No longer control for ${names}`],
    categorical: [names => `${names} as category`, names => `${names} not as category`],
    factor_groups: [names => `${names} as one factor`, names => `Ungroup ${names}`],
    where: [names => `Only rows with ${names}`, names => `Also rows without ${names}`],
    groups: [name => `Rows of the same ${name} belong together`, name => `Rows of the same ${name} are separate`],
    weight: [name => `Weights: ${name}`, name => `No weights (${name})`],
    alpha: [value => `Alpha ${value}`, () => "Alpha 0.1"],
    regroup: [() => "Dummies as one factor", () => "Dummies as they are"],
  };
  for (const [name, [title, options]] of Object.entries(CHOICES)) {
    WORDS[name] = [value => `${title}: ${lower(options[value])}`, () => `${title}: ${lower(options[DEFAULTS[name]])}`];
  }
  const lower = text => text[0].toLowerCase() + text.slice(1);

  // Every setting that differs from its default: its name, what it is set to in words, and how to take it back.
  function deviations(all) {
    const parts = [];
    for (const [name, value] of Object.entries(all)) {
      const add = (key, text, back) => parts.push({ name, key, text, back });
      const without = key => edited => { delete edited[name][key]; };
      if (LISTS.includes(name)) {
        for (const each of value) add(each, labelOf(each), edited => { edited[name] = edited[name].filter(other => other !== each); });
      } else if (name === "factor_groups") {
        for (const [group, names] of Object.entries(value)) add(`${group} ${names}`, listed(names.map(labelOf), 4), without(group));
      } else if (name === "where") {
        for (const [column, range] of Object.entries(value)) add(`${column} ${canonical(range)}`, sayRange(column, range), without(column));
      } else {
        add(String(value), ["groups", "weight", "target"].includes(name) ? labelOf(value) : value, edited => { delete edited[name]; });
      }
    }
    return parts;
  }

  function sayRange(column, { low = null, high = null, levels }) {
    const name = labelOf(column);
    if (levels) return `${name}: ${listed(levels.map(String), 4)}`;
    return low === null ? `${name} ≤ ${high}` : high === null ? `${name} ≥ ${low}` : `${name} from ${low} to ${high}`;
  }

  // The difference of two settings in words.
  function describe(before, after) {
    const [old, now] = [deviations(before), deviations(after)];
    const has = (parts, part) => parts.some(other => other.name === part.name && other.key === part.key);
    const set = now.filter(part => !has(old, part)), replaced = part => !LISTS.includes(part.name) && set.some(other => other.name === part.name);
    const back = old.filter(part => !has(now, part) && !replaced(part));
    const say = (parts, which) => [...new Set(parts.map(part => part.name))].map(name => {
      const texts = parts.filter(part => part.name === name).map(part => part.text);
      return WORDS[name]?.[which]?.(listed(texts));
    });
    return [...say(set, 0), ...say(back, 1)].filter(Boolean).join("; ") || "Change";
  }

  // Leave out what is empty or a default, so that equal settings look equal, and what contradicts itself.
  function tidy(all) {
    const gone = new Set([...(all.drop || []), all.target]);
    all.drop = all.drop?.filter(name => name !== all.target && name !== all.groups && name !== all.weight);
    for (const name of ["forced", "categorical"]) all[name] = all[name]?.filter(each => !gone.has(each) || (name === "categorical" && each === all.target));
    for (const [group, names] of Object.entries(all.factor_groups || {})) {
      all.factor_groups[group] = names.filter(name => !gone.has(name));
      if (all.factor_groups[group].length < 2) delete all.factor_groups[group];
    }
    const isGroup = name => !columnOf(name);
    all.forced = all.forced?.filter(name => !isGroup(name) || name in (all.factor_groups || {}));
    for (const name of ["groups", "weight"]) if (all[name] === all.target) all[name] = null;
    for (const [name, value] of Object.entries(all)) {
      const isEmpty = value === null || value === undefined || value === false || (typeof value === "object" && !Object.keys(value).length);
      if (isEmpty || value === DEFAULTS[name]) delete all[name];
      else if (Array.isArray(value)) all[name] = [...new Set(value)];
    }
    return all;
  }
  const same = (one, other) => canonical(one) === canonical(other);
  const isObject = value => value && typeof value === "object" && !Array.isArray(value);
  const sorted = value => Object.fromEntries(Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1));
  const canonical = value => JSON.stringify(value, (_, each) => isObject(each) ? sorted(each) : each);

  function change(edit) {
    const before = settings(), after = structuredClone(before);
    edit(after);
    tidy(after);
    if (same(before, after)) return;
    const isNew = before.target !== after.target;
    state.steps.splice(state.at + 1, Infinity, { settings: after, label: isNew ? WORDS.target[0](labelOf(after.target)) : describe(before, after) });
    state.at = state.steps.length - 1;
    rank();
  }
  const add = (name, values) => change(all => { all[name] = [...(all[name] || []), ...values]; });
  const remove = (name, values) => change(all => { all[name] = (all[name] || []).filter(each => !values.includes(each)); });
  const toggle = (name, values, on) => (on ? add : remove)(name, values);

  function explain(target) {
    if (state.result && settings().target === target) return show("result");
    change(all => {
      all.target = target;
      for (const name of [...LISTS, "factor_groups"]) if (state.steps.length === 0) delete all[name];
    });
  }

  function goTo(place) {
    if (place < 0 || place >= state.steps.length || place === state.at) return;
    state.at = place;
    rank();
  }

  // --- ranking ----------------------------------------------------------------------------------------------------
  function begin(text) {
    const run = { text: "", fallback: text, timer: setTimeout(() => { run.text ||= text; renderDock(); say(text); }, PATIENCE) };
    Object.assign(state, { run, message: "" });
    renderDock();
    return run;
  }
  function end(run) {
    clearTimeout(run.timer);
    if (state.run === run) state.run = null;
    renderDock();
  }

  async function rank() {
    const run = begin("Ranking"), step = state.steps[state.at];
    state.looks.abort(); // what is looked at waits for nothing else
    state.looks = new AbortController();
    run.cancel = () => { state.run = null; takeBack(); post(at("cancel"), {}).catch(() => {}); };
    renderHistory();
    try {
      const response = await post(at("rank"), { ...step.settings, since: state.result?.key });
      for await (const line of linesOf(response)) {
        if (state.run !== run) return; // a newer change has taken its place, or it was cancelled
        if (line.progress) { run.text = line.progress; renderDock(); say(line.progress); }
        else if (line.error) throw new Error(line.error);
        else if (line.cancelled) throw new Error("The ranking was cancelled.");
        else if (line.result) return finish(step, line.result);
      }
      throw new Error("The ranking ended without a result. Try again.");
    } catch (fault) {
      if (state.run !== run) return;
      if (fault.status === 404) { state.session = null; show("start"); fault.message = "The table is no longer open. Open it again."; }
      else takeBack();
      fail(fault);
    } finally {
      end(run);
    }
  }

  function finish(step, result) {
    state.steps.slice(0, state.at + 1).forEach(each => { each.done = true; });
    if (state.result?.key !== result.key) state.before = state.result;
    Object.assign(state, { result, shownStep: step });
    result.looks = new Map();
    const known = linesByKey();
    for (const key of state.chosen) if (!known.has(key)) state.chosen.delete(key);
    if (state.view !== "result") { state.before = null; show("result"); }
    renderResult();
    say([result.headline, ...result.changes].join(" "));
    keep();
  }

  // After a fault or a cancellation, what is shown is in force again.
  function takeBack() {
    state.steps = state.steps.filter(step => step.done);
    state.at = state.steps.indexOf(state.shownStep);
    if (state.result) renderResult();
  }
  function cancel() {
    state.run?.cancel?.();
    if (state.run) end(state.run);
    say("Cancelled.");
    renderDock();
  }

  // --- the answer -------------------------------------------------------------------------------------------------
  function renderResult() {
    const { result } = state;
    $("target-name").textContent = labelOf(result.target);
    $("headline").textContent = result.headline;
    renderTop();
    renderCeiling();
    renderFindings();
    renderHistory();
    renderChips();
    renderSettings();
    renderChart();
    renderTakeAway();
    renderColumnsBelow();
    $("notes").hidden = !result.notes.length;
    $("note-list").replaceChildren(...result.notes.map(note => h("li", {}, note)));
  }

  const renderColumnsBelow = () => $("result-columns").replaceChildren(...($("all-columns").open ? [columnList(settingRow)] : []));

  function renderCeiling() {
    const { ceiling } = state.result, old = state.before?.ceiling;
    const container = $("ceiling");
    container.hidden = !ceiling || ceiling.value === null;
    if (container.hidden) return;
    const meter = container.querySelector(".meter"), find = name => meter.querySelector(`.${name}`), hasRange = ceiling.low !== null;
    meter.setAttribute("aria-label", `${percent(ceiling.value)} can be explained`);
    find("estimate").textContent = percent(ceiling.value);
    Object.assign(find("estimate").style, { left: width(ceiling.value), transform: `translateX(-${width(ceiling.value)})` });
    find("fill").style.width = width(ceiling.value);
    find("range").hidden = !hasRange;
    if (hasRange) Object.assign(find("range").style, { left: width(ceiling.low), width: width(ceiling.high - ceiling.low) });
    const moved = old && typeof old.value === "number" && Math.abs(old.value - ceiling.value) >= 0.005;
    find("was").hidden = !moved;
    if (moved) find("was").style.width = width(old.value);
    container.querySelector("p").textContent = ceiling.sentence;
  }

  function renderFindings() {
    const boxes = state.result.findings.map(({ kind, sentence, remedy }, i) => {
      const before = settings(), after = structuredClone(before);
      applyRemedy(after, remedy || {});
      tidy(after);
      const helps = Object.keys(remedy || {}).length > 0 && !same(before, after);
      return h("div", { class: "box" }, h("b", {}, kind === "leak" ? "Leak. " : "Check the data. "), sentence, " ",
        helps && button(describe(before, after), () => change(all => applyRemedy(all, remedy)), { class: "small", "data-key": `remedy ${i}` }));
    });
    const rest = boxes.splice(2);
    fill($("findings"), boxes, rest.length ? h("details", { class: "fold" }, h("summary", {}, count(rest.length, "more remark")), rest) : null);
  }
  function applyRemedy(all, remedy) {
    for (const [name, value] of Object.entries(remedy)) {
      if (LISTS.includes(name)) all[name] = [...(all[name] || []), ...[value].flat()];
      else if (value && typeof value === "object" && !Array.isArray(value)) all[name] = { ...all[name], ...value };
      else all[name] = value;
    }
  }

  function renderHistory() {
    const place = i => ({ "data-key": `step ${i}`, class: i > state.at ? "undone" : "", "aria-current": i === state.at && "step" });
    fill($("history"), state.steps.map((step, i) => h("li", {}, button(step.label, () => goTo(i), place(i)))));
    const current = $("history").querySelector("[aria-current]");
    if (current) $("history").scrollTop = current.offsetTop - $("history").offsetTop - 60;
    $("undo").disabled = state.at <= 0;
    $("redo").disabled = state.at >= state.steps.length - 1;
    $("changes").replaceChildren(...(state.result && state.before ? state.result.changes : []).map(sentence => h("li", {}, sentence)));
  }

  function renderChips() {
    const parts = deviations(settings()).filter(part => part.name !== "target"), shown = parts.slice(0, 12);
    fill($("chips"), shown.map(part => {
      const text = WORDS[part.name]?.[0](part.text) ?? part.name;
      const words = { "aria-label": `Take back: ${text}`, title: "Take back" };
      return button(text, () => change(part.back), { class: "chip", "data-key": `${part.name} ${part.key}`, ...words });
    }), parts.length > shown.length && h("span", { class: "quiet" }, `and ${parts.length - shown.length} more`));
  }

  // --- settings ---------------------------------------------------------------------------------------------------
  function renderSettings() {
    const container = $("controls");
    if (!container.firstChild) container.append(...makeControls());
    const now = { ...DEFAULTS, ...settings() };
    for (const control of container.querySelectorAll("[data-setting]")) {
      control.value = now[control.dataset.setting] ?? "";
      control.disabled = now.rule === "paper" && ["alpha", "control", "goal"].includes(control.dataset.setting);
    }
  }

  function makeControls() {
    const set = name => event => change(all => { all[name] = event.target.type === "number" ? Number(event.target.value) : event.target.value || null; });
    const options = pairs => pairs.map(([value, text]) => h("option", { value }, text));
    const select = (name, title, pairs) => h("label", {}, title, h("select", { "data-setting": name, on: { change: set(name) } }, options(pairs)));
    const columns = state.session.columns.map(({ name, label }) => [name, label]);
    const [rule, goal, control, scale, leaks] = Object.entries(CHOICES).map(([name, [title, texts]]) => select(name, title, Object.entries(texts)));
    const number = { type: "number", min: 0.001, max: 0.5, step: 0.001 };
    const alpha = h("label", {}, "Alpha", h("input", { ...number, "data-setting": "alpha", on: { change: set("alpha") } }));
    const area = h("div", { id: "filter" }), choose = event => fill(area, filterFields(columnOf(event.target.value)));
    const filter = h("label", {}, "Only rows by", h("select", { id: "filter-column", on: { change: choose } }, options([["", "all rows"], ...columns])));
    return [
      h("fieldset", {}, h("legend", {}, "Rows"), filter, area,
        select("groups", "Rows belong together by", [["", "each row is its own"], ...columns]), select("weight", "Weights", [["", "none"], ...columns])),
      h("fieldset", {}, h("legend", {}, "Method"), rule, alpha, goal, control, scale, leaks),
    ];
  }

  function filterFields(column) {
    if (!column) return [];
    const apply = range => change(all => { all.where = { ...all.where, [column.name]: range }; });
    const present = settings().where?.[column.name] || {};
    if (column.levels?.length && column.kind !== "number" && column.kind !== "date") {
      const boxes = column.levels.map(level => [level, h("input", { type: "checkbox", checked: present.levels?.includes(level) ?? false })]);
      const take = () => {
        const levels = boxes.filter(([, box]) => box.checked).map(([level]) => level);
        if (levels.length) apply({ levels });
      };
      const list = { class: "levels", role: "group", "aria-label": `Values of ${column.label}` };
      return [h("div", list, boxes.map(([level, box]) => h("label", {}, box, String(level)))), button("Show these rows", take)];
    }
    const type = column.kind === "date" ? "date" : "number", read = input => type === "date" ? input.value : Number(input.value);
    const hint = end => column[end] === null ? "" : short(column[end]);
    const fields = ["low", "high"].map(end => h("input", { type, step: "any", value: present[end] ?? "", placeholder: hint(end) }));
    const take = () => {
      const [low, high] = fields.map(input => input.value === "" ? null : read(input));
      if (low !== null || high !== null) apply({ low, high });
    };
    return [h("div", { class: "range-row" }, h("label", {}, "from", fields[0]), h("label", {}, "to", fields[1])), button("Show these rows", take)];
  }

  // A column in the list below the ranking, with what can be done to it.
  function settingRow(column) {
    const { name, label, kind } = column, all = settings();
    if (name === all.target) return columnRow(column, h("span", { class: "name" }, label), h("span", {}, "explained"));
    const has = setting => (all[setting] || []).includes(name);
    const act = (text, click) => action(text, label, click);
    return columnRow(column, h("span", { class: "name" }, label), h("span", { class: "acts" },
      act("explain", () => explain(name)),
      kind !== "category" && act(has("categorical") ? "not as category" : "as category", () => toggle("categorical", [name], !has("categorical"))),
      act(has("drop") ? "put back" : "leave out", () => toggle("drop", [name], !has("drop")))));
  }

  // --- the chart --------------------------------------------------------------------------------------------------
  const rows = new Map(); // row by key; rows stay when the ranking changes, so that bars can move

  const SORTS = {
    rank: () => 0,
    name: (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }),
    alone: (one, other) => (other.alone ?? 0) - (one.alone ?? 0),
  };

  function renderChart() {
    const { result, before } = state, chart = $("chart"), find = state.find.toLowerCase();
    const names = line => [line.name, ...line.names, ...(line.members || []).map(member => member.name)];
    const found = result.lines.filter(line => !find || names(line).some(name => name.toLowerCase().includes(find))).sort(SORTS[state.sort]);
    const isIn = line => line.selected || (line.members || []).some(member => member.selected);
    const ins = found.filter(isIn), outs = found.filter(line => !isIn(line));
    const earlier = before?.target === result.target ? before.lines.flatMap(line => [line, ...(line.members || [])]) : [];
    const old = new Map(earlier.map(line => [setKey(line), line]));
    const { ins: roomIn = FEW, outs: roomOut = FEW } = state.room;
    moveSmoothly(() => {
      place($("ins"), ins.slice(0, roomIn), old);
      place($("outs"), outs.slice(0, roomOut), old);
    });
    for (const [key, row] of rows) if (!row.element.isConnected) rows.delete(key);
    for (const each of chart.querySelectorAll(".head [data-sort]")) each.setAttribute("aria-pressed", String(each.dataset.sort === state.sort));
    for (const each of chart.querySelectorAll(".key, .head, #ins")) each.hidden = !ins.length;
    const left = ins.length ? `${count(outs.length, "other")} left out` : `All ${outs.length.toLocaleString("en")} were left out`;
    $("out-title").textContent = outs.length ? left : "";
    const room = (name, to) => () => { state.room[name] = to + MORE; renderChart(); };
    fill($("more"), moreButton("", roomIn, ins.length, room("ins", roomIn)), " ",
      moreButton(" left out", roomOut, outs.length, room("outs", roomOut)), find && !found.length && "No factor has such a name.");
    $("find-row").hidden = result.lines.length <= 12 && !find;
    chart.classList.toggle("has-old", old.size > 0);
    renderDock();
    chart.dataset.result = result.key;
  }

  // The lines of the ranking and the members of clusters, each by a key of its own.
  function linesByKey() {
    const members = line => (line.members || []).map(member => [`${line.id} / ${member.id}`, member]);
    return new Map(state.result.lines.flatMap(line => [[line.id, line], ...members(line)]));
  }

  const setKey = line => JSON.stringify([...line.names].sort());

  function place(list, lines, old, prefix = "") {
    const wanted = lines.map(line => {
      const key = `${prefix}${line.id}`;
      if (!rows.has(key)) rows.set(key, makeRow(key));
      const row = rows.get(key);
      updateRow(row, line, old.get(setKey(line)), old);
      return row.element;
    });
    const active = list.contains(document.activeElement) ? document.activeElement : null;
    const index = [...list.children].findIndex(element => element.contains(active));
    wanted.forEach((element, i) => { if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null); });
    while (list.children.length > wanted.length) list.lastChild.remove();
    if (!active || document.activeElement === active) return;
    const next = wanted[Math.min(index, wanted.length - 1)], what = button => button.firstChild?.textContent;
    const likely = next && focusable(next).find(each => what(each) === what(active) && !each.closest("[hidden]"));
    (active.isConnected ? active : likely ?? $("headline")).focus({ preventScroll: true });
  }

  function makeRow(key) {
    const row = { key, line: null };
    const part = (name, element) => { row[name] = element; return element; };
    const bar = name => part(name, h("span", { class: name }));
    const choose = event => { state.chosen[event.target.checked ? "add" : "delete"](key); renderDock(); };
    row.element = h("li", {}, h("div", { class: "row" },
      h("span", { class: "check" }, part("check", h("input", { type: "checkbox", on: { change: choose } }))),
      h("span", { class: "factor" }, part("name", button("", () => openRow(row), { "aria-expanded": "false" })), " ", part("marks", h("span"))),
      h("span", { class: "plot", "aria-hidden": "true" }, bar("alone"), bar("ghost"), bar("bar"), bar("whisker")),
      h("span", { class: "lost number" }, hidden("lost without it "), part("lost", h("span"))),
      part("reason", h("span", { class: "reason" })),
      h("span", { class: "more" },
        part("was", h("span", { class: "was-number number" })), h("span", { class: "alone-number number" }, hidden("alone "), part("aloneNumber", h("span"))),
        h("span", { class: "p number" }, hidden("p "), part("p", h("span"))),
        part("acts", h("span", { class: "acts" })))), part("panel", h("div", { class: "panel", hidden: true })));
    return row;
  }

  function updateRow(row, line, old, all) {
    const { key } = row, { forced = [], factor_groups = {} } = settings(), group = line.id in factor_groups;
    Object.assign(row, { line, old, all });
    row.name.textContent = row.element.dataset.name = line.name;
    row.check.checked = state.chosen.has(key);
    row.check.setAttribute("aria-label", `Choose ${line.name}`);
    const kind = canonical([line.kind, line.marks]);
    if (row.kind !== kind) row.marks.replaceChildren(h("span", { class: "kind" }, line.kind), ...line.marks.flatMap(mark => [" ", sayMark(mark)]));
    row.kind = kind;
    const moved = old && old.importance_text !== line.importance_text, had = old?.selected && old.importance > 0;
    row.was.textContent = moved && had ? `was ${old.importance_text}` : all.size && line.selected && !old?.selected ? "new" : "";
    row.reason.replaceChildren(...[moved && had && !line.selected && h("b", {}, `was ${old.importance_text}`), line.reason].filter(Boolean));
    row.lost.textContent = line.importance_text;
    row.aloneNumber.textContent = typeof line.alone === "number" ? line.alone.toFixed(3) : "";
    row.p.textContent = line.p_text || "";
    for (const each of [row.lost, row.aloneNumber, row.p]) each.parentElement.hidden = !each.textContent;
    const shares = [[row.bar, line.selected ? line.importance : null], [row.alone, line.alone], [row.ghost, moved && had ? old.importance : null]];
    for (const [each, share] of shares) {
      each.hidden = typeof share !== "number";
      if (!each.hidden) each.style.width = width(share);
    }
    row.whisker.hidden = !line.selected || typeof line.low !== "number" || line.high <= line.low;
    if (!row.whisker.hidden) Object.assign(row.whisker.style, { left: width(line.low), width: width(Math.min(line.high, 1) - Math.max(line.low, 0)) });
    row.bar.parentElement.title = line.interval_text ? `95 % interval ${line.interval_text}` : "";
    const names = group ? [line.id] : line.names, isForced = names.every(name => forced.includes(name));
    const act = (text, click) => action(text, line.name, click);
    const can = canonical([group, isForced, names, line.names, line.name]);
    if (row.can !== can) {
      fill(row.acts, group && act("ungroup", () => change(edited => { delete edited.factor_groups[line.id]; })),
        act(isForced ? "release" : "control for", () => toggle("forced", names, !isForced)), act("leave out", () => add("drop", line.names)));
      row.can = can;
    }
    const isOpen = state.open.has(key);
    row.name.setAttribute("aria-expanded", String(isOpen));
    row.panel.hidden = !isOpen;
    if (isOpen && row.seen !== line) look(row, all);
  }

  const sayMark = mark => h("span", { class: `mark${mark === "weak evidence" ? " doubt" : ""}` }, mark);

  // Rows glide to their new places.
  function moveSmoothly(work) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return work();
    const inView = [...document.querySelectorAll("#ins > li, #outs > li")].slice(0, FEW).map(element => [element, element.getBoundingClientRect().top]);
    work();
    const moved = inView.filter(([element]) => element.isConnected).map(([element, top]) => [element, top - element.getBoundingClientRect().top]);
    for (const [element, by] of moved) {
      if (Math.abs(by) > 1) element.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 350, easing: "ease" });
    }
  }

  // --- closer -----------------------------------------------------------------------------------------------------
  function openRow(row) {
    state.open[state.open.has(row.key) ? "delete" : "add"](row.key);
    updateRow(row, row.line, row.old, row.all);
  }

  const picture = (svg, alt) => {
    const source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    const ownDark = svg.includes("prefers-color-scheme");
    return h("img", { src: source, alt, class: ownDark ? "" : "on-white", on: { load: () => URL.revokeObjectURL(source) } });
  };

  async function look(row, old) {
    const { line, panel } = row, { result } = state, members = h("ol", { class: "members items" });
    row.seen = line;
    const body = h("div", {}, h("p", {}, line.explanation));
    panel.replaceChildren(...[line.members?.length && members, body].filter(Boolean));
    if (line.members?.length) place(members, line.members, old, `${row.key} / `);
    const asCategory = categoryButton(line.names.filter(columnOf));
    try {
      if (!result.looks.has(line.id)) result.looks.set(line.id, json(at("factor", { key: result.key, name: line.id }), { signal: state.looks.signal }));
      const seen = await result.looks.get(line.id);
      body.replaceChildren(...closer(line, seen), ...asCategory);
    } catch (fault) {
      result.looks.delete(line.id);
      if (fault.name === "AbortError") row.seen = null;
      else body.append(h("p", { class: "quiet" }, fault.message));
    }
  }

  function categoryButton(columns) {
    if (columns.length !== 1) return [];
    const isCategory = (settings().categorical || []).includes(columns[0]);
    if (!isCategory && columnOf(columns[0]).kind === "category") return [];
    const text = isCategory ? "Not as category" : "Take as category";
    return [h("p", {}, button(text, () => toggle("categorical", columns, !isCategory), { class: "small" }))];
  }

  function closer(line, seen) {
    const target = labelOf(state.result.target);
    const figure = (svg, title, alt) => svg && h("figure", {}, h("figcaption", {}, title), picture(svg, alt));
    const interval = line.selected && line.interval_text && `Lost without it: ${line.importance_text}, 95 % interval ${line.interval_text}.`;
    const numbers = [interval, line.missing && `${count(line.missing, "value")} missing.`].filter(Boolean).join(" ");
    const fixed = figure(seen.effect, "The others held fixed", `Effect of ${line.name} on ${target} with the other factors held fixed`);
    const plain = figure(seen.alone, "As it looks", `${target} against ${line.name}`);
    const partner = ({ name, sentence }) => h("li", {},
      button([labelOf(name), hidden(`: joint picture with ${line.name}`)], () => lookAtPair(line.id, name), { class: "small" }), sentence);
    return [
      h("p", {}, seen.explanation || line.explanation), numbers && h("p", { class: "quiet" }, numbers),
      (fixed || plain) && h("div", { class: "figures" }, fixed, plain),
      seen.partners?.length && [h("h4", {}, "Partners"), h("ul", { class: "partners" }, seen.partners.map(partner))],
      seen.rows?.length && [h("h4", {}, "Rows that matter most"), rowTable(seen.rows, line)],
    ].flat().filter(Boolean);
  }

  function rowTable(rows, line) {
    const columns = Object.keys(rows[0].values), title = text => h("th", { scope: "col" }, text);
    const head = h("tr", {}, title("row"), columns.map(labelOf).map(title), title(`share of what is lost without ${line.name}`));
    const body = rows.map(({ row, values, share_text }) => h("tr", {},
      h("th", { scope: "row" }, String(row)), [...columns.map(column => values[column] ?? ""), share_text].map(text => h("td", {}, String(text)))));
    const area = { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Rows that matter most" };
    return h("div", area, h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
  }

  async function lookAtPair(a, b) {
    const names = [a, b].map(labelOf), body = $("pair-body");
    $("pair-title").textContent = `${names[0]} and ${names[1]} together`;
    body.replaceChildren(h("p", { class: "quiet" }, "Drawing"));
    $("pair").showModal();
    try {
      const { svg, sentence } = await json(at("pair", { key: state.result.key, a, b }));
      const figure = svg && h("figure", {}, picture(svg, `${labelOf(state.result.target)} by ${names.join(" and ")}`));
      body.replaceChildren(...[figure, h("p", {}, sentence)].filter(Boolean));
    } catch (fault) {
      body.replaceChildren(h("p", {}, fault.message));
    }
  }

  // --- progress, what is chosen, messages -------------------------------------------------------------------------
  function renderDock() {
    const parts = [], small = key => ({ class: "small", "data-key": key, id: key }), close = () => { state.message = ""; renderDock(); };
    if (state.message) parts.push(h("p", { class: "error", role: "alert" }, state.message, button("Close", close, small("close"))));
    if (state.run?.text) {
      parts.push(h("div", { class: "progress" }, h("span", { class: "spinner" }), h("span", {}, state.run.text), button("Cancel", cancel, small("cancel"))));
    }
    if (state.chosen.size && state.view === "result") parts.push(chosenBar());
    fill($("dock"), parts);
  }

  function chosenBar() {
    const lines = linesByKey(), chosen = [...state.chosen].map(key => lines.get(key)), names = [...new Set(chosen.flatMap(line => line.names))];
    const done = work => () => { state.chosen.clear(); work(); renderChart(); };
    const act = (text, work) => button(text, done(work), { class: "small", "data-key": text });
    const group = () => {
      const taken = new Set([...state.session.columns.map(column => column.name), ...Object.keys(settings().factor_groups || {})]);
      let title = chosen.slice(0, 2).map(line => line.name).join(" + ") + (chosen.length > 2 ? " + …" : "");
      for (let i = 2; taken.has(title); i++) title = `${title.replace(/ \(\d+\)$/, "")} (${i})`;
      change(all => {
        for (const line of chosen) delete all.factor_groups?.[line.id];
        all.factor_groups = { ...all.factor_groups, [title]: names };
        all.forced = all.forced?.filter(name => !names.includes(name));
      });
    };
    return h("div", { class: "bar-chosen" }, h("b", {}, `${chosen.length} chosen`),
      chosen.length === 2 && button("Joint picture", () => lookAtPair(...chosen.map(line => line.id)), { class: "small primary", "data-key": "pair" }),
      names.length > 1 && act("As one factor", group), act("Leave out", () => add("drop", names)), act("Control for", () => add("forced", names)),
      act("As category", () => add("categorical", names)), button("Clear", done(() => {}), { class: "small link", "data-key": "clear" }));
  }

  // --- take away --------------------------------------------------------------------------------------------------
  const FILES = { html: "Report (HTML)", csv: "Table (CSV)", json: "All results (JSON)", svg: "Picture (SVG)", png: "Picture (PNG)" };

  function renderTakeAway() {
    if (!$("files").firstChild) $("files").append(...Object.entries(FILES).map(([kind, text]) => button(text, event => download(kind, event.currentTarget))));
    const call = (title, text) => h("div", { class: "call" }, h("pre", { tabIndex: 0, "aria-label": title }, text),
      button(["Copy", hidden(` the ${title}`)], event => copy(text, event.currentTarget), { class: "small", "data-key": title }));
    const { command, python } = state.result;
    fill($("calls"), h("p", { class: "quiet" }, "To repeat exactly this, in a terminal or in Python:"), call("command", command), call("Python call", python));
  }

  async function download(kind, clicked) {
    clicked.disabled = true;
    try {
      const response = await ask(at("file", { key: state.result.key, kind }));
      const name = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("Content-Disposition") || "")?.[1] || `firstfactor.${kind}`;
      const source = URL.createObjectURL(await response.blob());
      h("a", { href: source, download: decodeURIComponent(name) }).click();
      setTimeout(() => URL.revokeObjectURL(source), 60_000);
      say(`${FILES[kind]} was saved.`);
    } catch (fault) {
      fail(fault);
    } finally {
      clicked.disabled = false;
      clicked.focus();
    }
  }

  async function copy(text, clicked) {
    try {
      await navigator.clipboard.writeText(text);
      clicked.firstChild.textContent = "Copied";
      say("Copied.");
      setTimeout(() => { clicked.firstChild.textContent = "Copy"; }, 2000);
    } catch { // without a secure context: select it, to copy by hand
      getSelection().selectAllChildren(clicked.previousSibling);
    }
  }

  // --- reload, and other tabs -------------------------------------------------------------------------------------
  const channel = new BroadcastChannel("firstfactor");
  channel.onmessage = ({ data }) => { if (data.ask && data.ask === state.session?.session) channel.postMessage({ taken: data.ask }); };

  function keep() {
    const { session, steps, view } = state;
    if (!session) return sessionStorage.removeItem("firstfactor");
    const done = steps.filter(step => step.done), at = Math.max(done.indexOf(state.shownStep), 0);
    sessionStorage.setItem("firstfactor", JSON.stringify({ session: session.session, view, steps: done, at }));
  }

  // A copied tab has the storage of the first: it starts anew, so that the two do not mix.
  const isTaken = id => new Promise(resolve => {
    const listen = ({ data }) => { if (data.taken === id) resolve(true); };
    channel.addEventListener("message", listen);
    channel.postMessage({ ask: id });
    setTimeout(() => { channel.removeEventListener("message", listen); resolve(false); }, 150);
  });

  async function restore() {
    const kept = JSON.parse(sessionStorage.getItem("firstfactor") || "null");
    if (!kept || await isTaken(kept.session)) return false;
    try {
      enter(await json(addressOf(kept.session)));
    } catch {
      return false;
    }
    if (!kept.steps.length) show("choose");
    else {
      Object.assign(state, { steps: kept.steps, at: kept.at });
      await rank();
      if (kept.view === "choose" || !state.result) show("choose");
    }
    return true;
  }

  async function begins() {
    const zone = document.documentElement;
    $("file").addEventListener("change", event => { openFile(event.target.files[0]); event.target.value = ""; });
    for (const type of ["dragover", "dragleave", "drop"]) {
      addEventListener(type, event => { event.preventDefault(); zone.classList.toggle("dragging", type === "dragover"); });
    }
    addEventListener("drop", event => { if (event.dataTransfer.files.length && state.start) openFile(event.dataTransfer.files[0]); });
    $("another").addEventListener("click", leave);
    $("other-target").addEventListener("click", () => show("choose"));
    $("undo").addEventListener("click", () => goTo(state.at - 1));
    $("redo").addEventListener("click", () => goTo(state.at + 1));
    $("pair-close").addEventListener("click", () => $("pair").close());
    $("find").addEventListener("input", event => { state.find = event.target.value; renderChart(); });
    for (const each of document.querySelectorAll("#chart [data-sort]")) {
      each.addEventListener("click", () => { state.sort = each.dataset.sort; renderChart(); });
    }
    $("all-columns").addEventListener("toggle", () => { if (state.result) renderColumnsBelow(); });
    $("settings").open = $("done").open = matchMedia("(min-width: 74.01rem)").matches;
    addEventListener("keydown", event => {
      const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
      if (!isUndo || state.view !== "result" || event.target.matches("input:not([type=checkbox])")) return;
      event.preventDefault();
      goTo(state.at + (event.shiftKey ? 1 : -1));
    });
    try {
      state.start = await json("/api/start");
      renderStart();
      if (await restore()) return;
      show("start");
      if (state.start.given) open(asJSON({ given: true }), `Reading ${state.start.given.name}`);
    } catch (fault) {
      fail(fault.status === 401 || fault.status === 403 ? new Error("Open the address that “firstfactor app” has printed in the terminal.") : fault);
    }
  }
  begins();
})();
