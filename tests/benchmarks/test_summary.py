"""The figures in documents are those of the stored results."""

import re

import pytest
import summary

PAGE = (summary.ROOT / summary.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", summary.DOCUMENTS)
def test_a_document_says_what_was_measured(document):
    text = (summary.ROOT / document).read_text(encoding="utf-8")
    assert summary.MARKED.search(text) or summary.COMMAND.match(text)
    assert summary.written(text) == text, "run python benchmarks/summary.py --write"


@pytest.mark.parametrize("document", [summary.PAGE, "docs/which-method.md"])
def test_no_other_number_stands_there(document):
    text = (summary.ROOT / document).read_text(encoding="utf-8")
    assert summary.loose_numbers(text) == []


def test_what_the_list_of_tables_and_figures_names_is_there():
    folder = (summary.ROOT / summary.PAGE).parent
    links = re.findall(r"\]\(([^)]+)\)", (folder / "papers.md").read_text(encoding="utf-8"))
    assert len(links) > 30
    assert [link for link in links if not (folder / link).is_file()] == []


def test_the_page_is_one_page():
    assert len(PAGE.splitlines()) <= 100


def test_a_figure_that_was_changed_is_put_right():
    found = next(mark for mark in summary.MARKED.finditer(PAGE) if "\n" not in mark[3])
    changed = PAGE.replace(found[0], f"{found[1]}9.99{found[4]}", 1)
    assert changed != PAGE
    assert summary.written(changed) == PAGE


def test_a_report_that_was_changed_is_put_right():
    text = (summary.ROOT / "benchmarks/results/zhu2019.md").read_text(encoding="utf-8")
    changed = text.replace("| mnist_7v9 | rwm ", "| mnist_7v9 | RWM ").replace("## Not", "## NOT")
    assert summary.written(changed) == text.replace("## Not", "## NOT")


def test_numbers_that_are_not_compared_are_found():
    assert summary.loose_numbers("It is 4.7 times as fast, on 25 of 26.") == ["4.7", "25", "26."]
    fine = (
        "On 2026-11-21, `--seeds 3`, Zhu (2019), Tables 1–6, [this](page1.md): <!--= a -->9<!--/-->"
    )
    assert summary.loose_numbers(fine) == []


def test_an_unknown_figure_is_an_error():
    with pytest.raises(KeyError, match="no figure is called 'nothing'"):
        summary.written("<!--= nothing -->1<!--/-->")


def test_a_document_that_differs_fails_the_script(tmp_path, monkeypatch, capsys):
    path = tmp_path / "page.md"
    path.write_text("of <!--= peers posteriors -->0<!--/--> posteriors", encoding="utf-8")
    monkeypatch.setattr(summary, "ROOT", tmp_path)
    monkeypatch.setattr(summary, "DOCUMENTS", ("page.md",))
    assert summary.main([]) == 1
    assert "peers posteriors: '0' should be '7'" in capsys.readouterr().out
    assert summary.main(["--write"]) == 0
    assert summary.main([]) == 0
