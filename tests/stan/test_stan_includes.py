"""Files that a Stan program includes, and what its text is coded in."""

from pathlib import Path

import pytest

from probmodel import Stan
from probmodel.density import as_posterior
from probmodel.errors import ModelError
from probmodel.stan.syntax.parser import parse


def written(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / f"{name}.stan"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "#include part.stan",
        '#include "part.stan"',
        "#include <part.stan>",
        "  #include\tpart.stan // why",
        "#include<part.stan>",
    ],
)
def test_words_of_a_file_stand_where_it_is_included(tmp_path, line):
    folder = written(tmp_path, part="real x;\nreal y;")
    program, sources = parse(f"parameters {{\n{line}\nreal z; }}", folders=[folder])
    declared = program.blocks["parameters"]
    part = str(folder / "part.stan")
    assert [(d.name, d.place) for d in declared] == [
        ("x", (part, 1, 6)),
        ("y", (part, 2, 6)),
        ("z", ("<stan>", 3, 6)),
    ]
    assert sources.keys() == {"<stan>", part}
    assert sources[part] == "real x;\nreal y;"


def test_a_file_that_ends_amid_a_statement_is_continued(tmp_path):
    folder = written(tmp_path, part="real x")
    program, _ = parse("parameters {\n#include part.stan\n; }", folders=[folder])
    assert [d.name for d in program.blocks["parameters"]] == ["x"]


def test_the_folder_of_the_file_comes_first_then_those_given(tmp_path):
    own = written(tmp_path / "own", program="", a="real own_a;")
    one = written(tmp_path / "one", a="real one_a;", b="real one_b;\n#include c.stan")
    two = written(tmp_path / "two", b="real two_b;", c="real two_c;")
    text = "parameters {\n#include a.stan\n#include b.stan\n}"

    def names(**options):
        return [d.name for d in parse(text, **options)[0].blocks["parameters"]]

    file = str(own / "program.stan")
    assert names(file=file, folders=[one, two]) == ["own_a", "one_b", "two_c"]
    assert names(folders=[one, two]) == ["one_a", "one_b", "two_c"]
    # A file of an included file is looked for beside that one first.
    written(one, c="real one_c;")
    assert names(file=file, folders=[two, one]) == ["own_a", "two_b"]
    assert names(file=file, folders=[one, two]) == ["own_a", "one_b", "one_c"]


def test_a_file_may_be_included_twice_but_not_by_itself(tmp_path):
    folder = written(tmp_path, a="// nothing", b="#include c.stan", c=" \n#include ./b.stan")
    parse("#include a.stan\n#include a.stan", folders=[folder])
    with pytest.raises(ModelError, match=r"in a circle: b\.stan -> c\.stan -> b\.stan") as caught:
        parse("#include b.stan", folders=[folder])
    assert caught.value.location == (str(folder / "c.stan"), 2)


def test_a_program_does_not_include_itself(tmp_path):
    folder = written(tmp_path, a="#include a.stan")
    with pytest.raises(ModelError, match=r"in a circle: a\.stan -> a\.stan"):
        parse("#include a.stan", file=str(folder / "a.stan"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("b.stan", "no file 'b.stan' to include: looked in '{folder}'"),
        ("\0.stan", r"no file '\x00.stan' to include"),
        ("a" * 5000, "no file 'aaa"),
        ("/b.stan", "no file '/b.stan' to include: looked in '{folder}'"),
        ("/../b.stan", "expected a file, named relative to a folder of includes, got '/../b.stan'"),
        ("//", "expected a file, named relative to a folder of includes, got '//'"),
        ("", "expected a file, named relative to a folder of includes, got ''"),
        (".", "no file '.' to include"),
    ],
)
def test_a_file_that_is_not_there(tmp_path, name, message):
    with pytest.raises(ModelError) as caught:
        parse(f"\n  #include {name}\n", folders=[tmp_path])
    assert message.format(folder=tmp_path) in str(caught.value)
    assert caught.value.location == ("<stan>", 2)
    assert caught.value.values["column"] == 3


def test_a_leading_slash_means_below_the_folders(tmp_path):
    folder = written(tmp_path / "folder")
    written(folder / "pre", part="real x;")
    outside = written(tmp_path / "outside", part="real y;")
    program, _ = parse("parameters {\n#include /pre/part.stan\n}", folders=[outside, folder])
    assert [d.name for d in program.blocks["parameters"]] == ["x"]
    for name in (f"{outside}/part.stan", "/../outside/part.stan", "/pre/../../outside/part.stan"):
        with pytest.raises(ModelError, match=r"no file|expected a file"):
            parse(f"parameters {{\n#include {name}\n}}", folders=[folder])


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    folder = written(tmp_path, part="")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ModelError, match=r"part\.stan' cannot be read: Permission denied"):
        parse("#include part.stan", folders=[folder])


def test_a_text_without_folders_includes_nothing():
    with pytest.raises(ModelError, match="no folders of includes were given"):
        parse("#include a.stan")


def test_files_that_double_each_other_end(tmp_path):
    files = {f"a{n}": f"#include a{n + 1}.stan\n" * 2 for n in range(30)}
    folder = written(tmp_path, **files, a30="")
    with pytest.raises(ModelError, match="more than 1000 includes"):
        parse("#include a0.stan", folders=[folder])


def test_a_long_chain_of_files_ends(tmp_path):
    files = {f"a{n}": f"#include a{n + 1}.stan\n" for n in range(150)}
    with pytest.raises(ModelError, match="100 in one another"):
        parse("#include a0.stan", folders=[written(tmp_path, **files)])


def test_errors_in_included_files_show_their_lines(tmp_path):
    folder = written(tmp_path, part="real x;\nreal 2;")
    with pytest.raises(ModelError) as caught:
        parse("parameters {\n#include part.stan\n}", folders=[folder])
    assert str(caught.value) == (
        f"{folder / 'part.stan'}:2: column 6: expected the name of a variable, got '2'.\n"
        "    real 2;\n"
        "         ^"
    )


@pytest.mark.parametrize(
    "data",
    [
        "// é\nreal x;".encode(),
        "// é\nreal x;".encode("latin-1"),
        b"\xef\xbb\xbf// bom\nreal x;",
        b"// dos\r\nreal x;\r\n",
        b"// old\rreal x;\r",
    ],
)
def test_files_may_be_coded_in_many_ways(tmp_path, data):
    folder = written(tmp_path, part=data)
    program, _ = parse("parameters {\n#include part.stan\n}", folders=[folder])
    assert program.blocks["parameters"][0].place.line == 2


@pytest.mark.parametrize("data", ["real x;".encode("utf-16"), bytes(range(256))])
def test_files_that_are_no_text(tmp_path, data):
    folder = written(tmp_path, part=data)
    with pytest.raises(ModelError, match="Stan"):
        parse("parameters {\n#include part.stan\n}", folders=[folder])


def test_lines_end_as_they_do_on_any_system():
    for end in ("\n", "\r\n", "\r"):
        program, sources = parse(end.join(["\ufeffmodel {", "  x = 1;", "}"]))
        assert program.blocks["model"][0].place == ("<stan>", 2, 3)
        assert sources == {"<stan>": "model {\n  x = 1;\n}"}


def test_one_folder_needs_no_list(tmp_path):
    folder = written(tmp_path / "parts", part="real x;")
    text = "parameters {\n#include part.stan\n}\nmodel { x ~ normal(0, 1); }"
    for given in (folder, str(folder), [folder]):
        assert as_posterior(Stan(text, folders=given)()).dim == 1
