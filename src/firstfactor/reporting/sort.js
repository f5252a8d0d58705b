// Sorts the rows of the chart when a title is clicked. Without scripts, they stay in order of importance.
(() => {
  const chart = document.getElementById("chart");
  if (!chart) return;
  const lists = [...chart.querySelectorAll("ol.rows")];
  const room = lists.map(list => list.children.length);
  const buttons = [...chart.querySelectorAll("button[data-key]")];
  const sorted = (rows, key) => rows.sort((one, other) => key === "name"
    ? one.dataset.name.localeCompare(other.dataset.name, undefined, { numeric: true })
    : other.dataset[key] - one.dataset[key]);
  const sort = key => {
    const rows = sorted(lists.flatMap(list => [...list.children]), key);
    lists.forEach((list, i) => list.append(...rows.splice(0, room[i])));
    buttons.forEach(button => button.setAttribute("aria-pressed", button.dataset.key === key));
  };
  for (const button of buttons) {
    button.disabled = false;
    button.addEventListener("click", () => sort(button.dataset.key));
  }
})();
