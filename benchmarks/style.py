"""Count lines, functions, comments and constants of this tree, and the files that a fit and a report run through.

python -m benchmarks.style [TREE ...]

Each tree is the root of a checkout; the default is this one.
"""

import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

from .markers import table

ROOT = Path(__file__).parents[1]

# Prints the number of source files that run, how often one follows another, and how often a table is opened and
# encoded: in a fit, and in `rank --html`.
TRACE = """
import json, pathlib, sys, tempfile
sys.path.insert(0, sys.argv[1])
import numpy as np
import firstfactor
from firstfactor import FIRST, rank, ranking

X = np.random.default_rng(0).random((200, 6))
y = X[:, 0] + X[:, 1] ** 2 + 0.1 * X[:, 5]
folder = pathlib.Path(tempfile.mkdtemp())
rows = [",".join(map(str, row)) for row in np.column_stack([X, y])]
(folder / "table.csv").write_text("\\n".join(["a,b,c,d,e,f,y", *rows]))

def fit():
    FIRST(n_jobs=1).fit(X, y)

def report():
    if hasattr(ranking, "make_ranking"):  # as the command does
        found = ranking.make_ranking(folder / "table.csv", "y", None, {"jobs": 1}, for_report=True)
    else:  # before 0.3
        found = rank(folder / "table.csv", "y", jobs=1)
    found.report(folder / "report.html")

def follow(call):
    call()  # imports and compiles
    files, functions = [], []
    def note(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(sys.argv[1]):
            functions.append(frame.f_code.co_name)
            if files[-1:] != [name]:
                files.append(name)
    sys.setprofile(note)
    call()
    sys.setprofile(None)
    # A generator is called once to begin and once to end.
    return [len(set(files)), len(files) - 1, functions.count("open_source") // 2, functions.count("encode_table")]

print(json.dumps({call.__name__: follow(call) for call in (fit, report)}))
"""


def measure(root):
    """Return the figures of a tree, by what they count."""
    source = {path: path.read_text(encoding="utf-8") for path in sorted((root / "src").rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in source.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    docstrings = {path: _docstring_lines(tree) for path, tree in trees.items()}
    code = {path: _code_lines(text) - docstrings[path] for path, text in source.items()}
    functions = [
        (path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    lengths = [len(code[path] & set(range(node.lineno, node.end_lineno + 1))) for path, node in functions]
    lines = [text.count("\n") for text in source.values()]
    p90 = statistics.quantiles(lengths, n=10)[-1]
    n_code, trace = sum(map(len, code.values())), _trace(root)
    return {
        "files / lines of src": f"{len(lines)} / {sum(lines):,}",
        "code lines": f"{n_code:,}",
        "lines of a file, median / max": f"{statistics.median(lines):.0f} / {max(lines)}",
        "files below 60 lines": sum(n < 60 for n in lines),
        "function length, median / p90 / max": f"{statistics.median(lengths):.0f} / {p90:.0f} / {max(lengths)}",
        "comments per 100 code lines": f"{100 * sum(map(_count_comments, source.values())) / n_code:.1f}",
        "docstring share, %": f"{100 * sum(map(len, docstrings.values())) / sum(lines):.0f}",
        "parameters of FIRST": _count_parameters(trees[root / "src/firstfactor/first.py"], "FIRST"),
        "functions with one caller, %": f"{100 * _share_called_once(nodes, [f.name for _, f in functions]):.0f}",
        "module-level numeric constants": sum(_count_constants(tree) for tree in trees.values()),
        **{f"files / lines of {part}": _count_files(root / part) for part in ("tests", "study", "benchmarks")},
        "test / source lines": f"{_count_lines(root / 'tests') / sum(lines):.2f}",
        "private names of other packages": len(set(_list_private_names(nodes))),
        "fit: files / switches": "{} / {}".format(*trace["fit"]),
        "rank --html: files / switches": "{} / {}".format(*trace["report"]),
        "rank --html: table opened / encoded": "{2} / {3}".format(*trace["report"]),
    }


def _docstring_lines(tree):
    """Return the numbers of the lines of all docstrings of a module, those below attributes included."""
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    texts = [node for body in bodies for node in body if isinstance(node, ast.Expr)]
    texts = [node for node in texts if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)]
    return {line for node in texts for line in range(node.lineno, node.end_lineno + 1)}


def _code_lines(text):
    """Return the numbers of the lines that are neither blank nor only a comment."""
    lines = enumerate(text.splitlines(), start=1)
    return {number for number, line in lines if line.strip() and not line.strip().startswith("#")}


def _count_comments(text):
    """Return the number of comments of a module."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


def _count_parameters(tree, name):
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    init = next(node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    return len(init.args.args) + len(init.args.kwonlyargs) - 1


def _share_called_once(nodes, functions):
    """Return the share of functions whose name occurs once besides its definition and imports."""
    used = Counter(node.id if isinstance(node, ast.Name) else node.attr
                   for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))  # fmt: skip
    own = [name for name in functions if not re.fullmatch("__.*__", name)]
    return sum(used[name] == 1 for name in own) / len(own)


def _count_constants(tree):
    """Return the number of names at the top of a module that are bound to numbers."""
    values = [node.value for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value]
    parts = [part for value in values for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return sum(_is_number(part) for part in parts)


def _is_number(value):
    """Return True for a number, or an expression of numbers such as -1 or 2**20."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_number(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


# Public in spite of their names: fields and methods of named tuples and dataclasses.
NO_PRIVATE_NAMES = ("_replace", "_fields", "_asdict", "_make")


def _list_private_names(nodes):
    """Yield private names that are imported from other packages, or taken from objects of classes not defined here."""
    own = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (alias.name for alias in node.names if alias.name.startswith("_"))
        elif isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and node.attr not in own:
            yield from [node.attr] if node.attr not in NO_PRIVATE_NAMES else []


def _count_lines(folder):
    return sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.py"))


def _count_files(folder):
    return f"{sum(1 for _ in folder.rglob('*.py'))} / {_count_lines(folder):,}"


def _trace(root):
    """Return what `TRACE` prints."""
    command = [sys.executable, "-W", "ignore", "-c", TRACE, str(root / "src")]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


if __name__ == "__main__":
    roots = [Path(name).resolve() for name in sys.argv[1:]] or [ROOT]
    found = [measure(root) for root in roots]
    print(table(["", *(root.name for root in roots)], [[name, *(one[name] for one in found)] for name in found[0]]))
