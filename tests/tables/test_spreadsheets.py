"""Workbooks: cells far from the table, values of several kinds, damage."""

import random
import zipfile

import numpy as np
import polars as pl
import pytest
import xlsxwriter

from firstfactor import rank
from firstfactor.tables.formats import open_source

X = np.random.default_rng(0).normal(size=60).tolist()


def workbook(path, odd=None):
    """Write a workbook whose column b has another value in some rows."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["x", "b", "y"])
        for i, x in enumerate(X):
            sheet.write_row(i + 1, 0, [x, odd if odd is not None and i in (5, 7) else x * x, 2 * x])
    return path


def changed(path, part, *replacements):
    """Replace text in a part of a workbook."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for old, new in replacements:
        assert old in contents[part]
        contents[part] = contents[part].replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize("last", [b"XFD1048576", b"C4000000000", b"ZZZZZZZ61", b"ZZ100000"])
def test_a_cell_that_is_far_off_is_refused(tmp_path, last):
    path = changed(workbook(tmp_path / "t.xlsx"), SHEET, (b'r="C61"', b'r="' + last + b'"'))
    assert path.stat().st_size < 10_000
    with pytest.raises(
        ValueError, match=r"^a sheet of t\.xlsx .* has 183 filled cells, but the last .*Delete the rows and"
    ):
        rank(str(path), "y")


def test_a_row_that_is_far_off_is_refused(tmp_path):
    cell = b'<row r="3000000000"><c><v>1</v></c></row></sheetData>'
    path = changed(workbook(tmp_path / "t.xlsx"), SHEET, (b"</sheetData>", cell))
    with pytest.raises(ValueError, match=r"^a sheet of t\.xlsx .* cells would be read\."):
        rank(str(path), "y")


def test_thousands_of_columns_without_values_are_not_examined_as_text(tmp_path):
    path = changed(workbook(tmp_path / "t.xlsx"), SHEET, (b'r="C61"', b'r="XFD61"'))
    with open_source(str(path)) as source:
        assert sum(dtype == pl.String for dtype in source.dtypes.values()) == 0
    found = rank(str(path), "y").dataset
    assert found.X.columns == ["x", "b", "column 16384"]
    assert found.left_out == {f"column {number}": "no values" for number in range(4, 16384)}


def test_what_a_sheet_says_of_its_size_does_not_matter(tmp_path):
    path = changed(workbook(tmp_path / "t.xlsx"), SHEET, (b'ref="A1:C61"', b'ref="A1:XFD1048576"'))
    assert rank(str(path), "y").dataset.X["x"].to_list() == pytest.approx(X)


def ods(path, row):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        names = ("office", "table", "text")
        spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name='S'>{row}"
            "</table:table></office:spreadsheet></office:body></office:document-content>",
        )
    return str(path)


def test_a_cell_that_is_repeated_over_the_whole_sheet_is_refused(tmp_path):
    cell = '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    with pytest.raises(
        ValueError, match=r"^a sheet of t\.ods \(content\.xml\) has 1 filled cells.* 17,179,869,184 cells"
    ):
        rank(ods(tmp_path / "t.ods", row), "y")


def test_an_xlsb_file_with_a_cell_that_is_far_off_is_refused(tmp_path):
    def record(kind, content):
        return bytes([kind, len(content)]) + content

    row, cell = (2**20 - 1).to_bytes(4, "little") + bytes(12), (16383).to_bytes(4, "little") + bytes(8)
    with zipfile.ZipFile(tmp_path / "t.xlsb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.bin", record(0, row) + record(2, cell))
    with pytest.raises(ValueError, match=r"^a sheet of t\.xlsb .* has 1 filled cells"):
        rank(str(tmp_path / "t.xlsb"), "y")


@pytest.mark.parametrize("odd", [True, False])
def test_true_among_numbers_is_no_number(tmp_path, odd):
    path = str(workbook(tmp_path / "t.xlsx", odd))
    said = rf"column 'b' of t\.xlsx holds numbers, but for '{str(odd).lower()}' on row 6 below the header and 1 more"
    with pytest.raises(ValueError, match=said):
        rank(path, "y")
    assert rank(path, "y", drop="b").indices.names == ("x",)


def refusal(path):
    """Return why a file is refused; empty if it is not."""
    try:
        rank(str(path), "y", rule="paper")
    except ValueError as error:
        return str(error)
    return ""


def test_damaged_workbooks_are_told(tmp_path):
    whole, path = workbook(tmp_path / "t.xlsx").read_bytes(), tmp_path / "d.xlsx"
    refusals = []
    for seed in range(150):
        draw, damaged = random.Random(seed), bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged[: draw.randint(1, len(damaged))] if seed % 3 == 0 else damaged)
        refusals.append(refusal(path))
    assert all("d.xlsx" in said or not said for said in refusals)
    assert sum(map(bool, refusals)) > 100


@pytest.mark.slow
def test_a_sheet_with_many_columns_without_names_takes_little_memory(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for row, values in enumerate([["x", "y"], *([x, 2 * x] for x in X)]):
            sheet.write_row(row, 0, values)
        sheet.write(60, 5000, 1)
    with open_source(str(tmp_path / "t.xlsx")) as source:
        assert len(source.names) == 5001 and source.names[2] == "column 3"
        assert sum(map(len, source.frame.collect_schema().names())) < 10**5
    assert rank(str(tmp_path / "t.xlsx"), "y", factors="x").indices.names == ("x",)
