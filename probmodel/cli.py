"""The command line: sample, show or check a model file, summarise a result, list the methods.

Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from probmodel.errors import ModelError, OutputError, ProbmodelError, SamplerError, SamplingWarning
from probmodel.inference.signals import attempt, held, interruptible
from probmodel.model_arguments import add_model, bound_model, error_text, model_class
from probmodel.version import __version__

_SCREEN = 24  # lines that an error may fill
_FAILED = 2
_SIGNALLED = 128  # shells add the number of the signal that ended a command
_INTERRUPTED = _SIGNALLED + 2  # SIGINT: Ctrl-C
_NO_READER = _SIGNALLED + 13  # SIGPIPE

_EPILOG = """examples:
  probmodel gallery
  probmodel sample gallery:radon --seed 1
  probmodel sample models/coin.py --data coin.json --seed 1
  probmodel sample models/coin.stan --data coin.json --seed 1
  probmodel sample models/coin.py --data coin.json --method mala --draws 5000 --out coin.nc
  probmodel sample models/coin.py --data coin.json --set target_accept=0.7
  probmodel sample models/coin.py --data coin.json --ess 4000 --checkpoint coin.run
  probmodel resume coin.run
  probmodel summary coin.nc
  probmodel report coin.nc -o coin.html

exit status: 0 if all went well, 2 after an error, 130 if stopped by Ctrl-C, 143 by SIGTERM, 129 by
SIGHUP (what was drawn until then is shown, and written with --out), 141 if nobody reads the output.
A model file in Python is a program, and runs: use only those you trust. Stan programs are read, and
do nothing but compute; data files are read, never run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default that of the process, and return its exit status.

    That is 0, or 2 after an error (one message on standard error, a traceback with ``--traceback``
    only), or 128 and the number of a signal.
    """
    options = _options(arguments)
    with held() as signals:
        # What is drawn is not to be lost: that command says itself where it can be interrupted.
        stoppable = options.run not in _SAMPLING
        code, error = attempt(lambda: options.run(options), stoppable=stoppable)
        status: int = (code or 0) if error is None else _report(error, options)
        if signals and status in (0, _INTERRUPTED):
            status = _SIGNALLED + signals[0]
    return status


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; what ``--help`` prints goes the way of all output."""
    try:
        return _parser().parse_args(arguments)
    except (SystemExit, OSError):  # older Pythons raise the second if they cannot print
        try:
            _print("", end="")
        except (BrokenPipeError, OutputError) as error:
            raise SystemExit(_report(error, argparse.Namespace(traceback=False))) from None
        raise


def _report(error: BaseException, options: argparse.Namespace) -> int:
    """Say what went wrong, and return the exit status."""
    if isinstance(error, KeyboardInterrupt):
        sampling = options.run in _SAMPLING
        _say("Interrupted; there are no draws to keep." if sampling else "Interrupted.")
        return _INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return _NO_READER
    whole = options.traceback
    _say("".join(traceback.format_exception(error)) if whole else _one_screen(error, options))
    return _FAILED


def _say(text: str) -> None:
    """Write a line to standard error, if that can be written."""
    with contextlib.suppress(OSError, ValueError):
        print(_encodable(text.rstrip("\n"), sys.stderr), file=sys.stderr)


def _print(text: object, end: str = "\n") -> None:
    """Write to standard output, and make sure that it got there.

    Raises a BrokenPipeError if nobody reads it any more, and an `OutputError` if it cannot be
    written for another reason.
    """
    try:
        print(_encodable(str(text), sys.stdout), end=end, flush=True)
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):  # else Python tries once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        message = f"cannot write to standard output: {error.strerror}."
        raise OutputError(message) from error


def _encodable(text: str, stream: TextIO | None) -> str:
    """Replace what a stream's encoding lacks: Greek letters on a terminal of Latin ones."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="probmodel",
        description="Declarative Bayesian models, sampled by adaptive MCMC methods.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"probmodel {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_sample(commands)
    _add_resume(commands)
    command = _command(commands, "summary", _run_summary, "print the table of a saved result")
    command.add_argument("file", metavar="FILE.nc", help="a result written with --out")
    command = _command(
        commands, "check", _run_check, "check the gradient and transforms of a model"
    )
    add_model(command)
    command = _command(commands, "show", _run_show, "print a model as text, LaTeX or a graph")
    add_model(command)
    command.add_argument(
        "--format", choices=("text", "latex", "stan", "svg", "dot"), default="text", dest="form",
        help="text (default); latex; stan, a program in the Stan language; or the graph, which "
        "needs data for Stan programs alone: svg, a picture, or dot, for Graphviz",
    )  # fmt: skip
    command = _command(commands, "report", _run_report, "write a saved result as a page")
    command.add_argument("file", metavar="FILE.nc", help="a result written with --out")
    command.add_argument("-o", "--out", metavar="FILE.html", help="by default beside it")
    command = _command(commands, "gallery", _run_gallery, "list, show or copy models to start from")
    command.add_argument("name", nargs="?", metavar="NAME", help="a model to show")
    command.add_argument("--copy", metavar="FOLDER", help="copy it with its data, to be changed")
    _command(commands, "methods", _run_methods, "list the sampling methods")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    command.add_argument("--traceback", action="store_true", help="show where an error arose")
    command.set_defaults(run=run)
    return command


def _add_sample(commands: Any) -> None:
    command = _command(commands, "sample", _run_sample, "draw from the posterior of a model")
    add_model(command)
    add = command.add_argument
    add("--method", metavar="NAME", help="see `probmodel methods`")
    for name, what in (
        ("chains", "number of chains"),
        ("draws", "kept draws per chain"),
        ("warmup", "warm-up iterations per chain"),
        ("thin", "iterations per kept draw"),
        ("seed", "the same seed gives the same draws"),
    ):
        add(f"--{name}", type=int, metavar="N", help=what)
    add("--max-time", type=float, metavar="SECONDS",
        help="time limit, warm-up included; draws made until then are kept")  # fmt: skip
    add("--ess", type=float, metavar="N",
        help="run until this effective sample size is reached, and R-hat is 1.01")  # fmt: skip
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="a setting of the method; may be repeated")  # fmt: skip
    add("--checkpoint", metavar="FOLDER",
        help="keep the run in a new folder while it is made, for `probmodel resume`")  # fmt: skip
    _add_output(command)


def _add_output(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("-o", "--out", metavar="FILE.nc", help="write the result as a netCDF file")
    add("--plot", metavar="FILE.html", help="write a page with the model, findings and pictures")
    add("--quiet", action="store_true", help="print nothing but errors")


def _add_resume(commands: Any) -> None:
    command = _command(commands, "resume", _run_resume, "go on with a run that was not finished")
    command.add_argument("folder", metavar="FOLDER", help="what --checkpoint named")
    command.add_argument("--max-time", type=float, metavar="SECONDS",
        help="time limit, from now on")  # fmt: skip
    _add_output(command)


def _run_sample(options: argparse.Namespace) -> int:
    from probmodel.model_arguments import files_read
    from probmodel.results.storage import check_outputs
    from probmodel.sampling import infer

    settings = dict(_setting(text) for text in options.settings)
    names = ("method", "chains", "draws", "warmup", "thin", "seed", "max_time", "ess", "checkpoint")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "model" in settings:
        raise SamplerError("--set model=... is no setting: the model comes first, MODEL.")
    for name in {*given, "method", "quiet"} & settings.keys():
        option = name.replace("_", "-")
        raise SamplerError(f"--set {name}=... clashes with --{option}; use the latter alone.")
    with interruptible():
        check_outputs(options.out, options.plot, files_read(options))
        model = bound_model(options, _say)
    return _finish(lambda: infer(model, quiet=options.quiet, **given, **settings), options)


def _run_resume(options: argparse.Namespace) -> int:
    from probmodel.results.storage import check_outputs
    from probmodel.resuming import resume

    with interruptible():
        check_outputs(options.out, options.plot)
    folder, limit = options.folder, options.max_time
    return _finish(lambda: resume(folder, max_time=limit, quiet=options.quiet), options)


def _finish(run: Callable[[], Any], options: argparse.Namespace) -> int:
    """Draw, write what was drawn where it is wanted, and print it; return the exit status."""
    from probmodel.results.storage import keep

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # printed below, after the table
        result = run()
    status = _INTERRUPTED if result.attrs["interrupted"] else 0
    place, problem = keep(result, options.out) if options.out else (None, "")
    if options.quiet and status:
        _say(f"Interrupted; there are {result.attrs['draws_done']} draws per chain.")
    if problem:
        status = _FAILED
        _say(f"error: {problem}")
    elif place and (status or not options.quiet):
        _say(f"Written to {place}")
    if options.plot:
        status = _plot(result, status, options)
    return status if options.quiet else _show(result, status, options)


def _plot(result: Any, status: int, options: argparse.Namespace) -> int:
    """Write the page, if that can be done; return the exit status."""
    from probmodel.fit_page import report

    place, error = attempt(lambda: report(result, options.plot))
    if error is not None:
        return _report(error, options)
    if not options.quiet:
        _say(f"Written to {place}")
    return status


def _show(result: Any, status: int, options: argparse.Namespace) -> int:
    """Print the table and the warnings, if that can be done; return the exit status."""
    ended = 0
    _, error = attempt(lambda: _print_result(result))
    if isinstance(error, KeyboardInterrupt):
        ended = _INTERRUPTED
        _say("Interrupted before the table was printed.")
    elif error is not None:
        ended = _report(error, options)
    if error is not None and not isinstance(error, BrokenPipeError) and not options.out:
        _say("The draws are not kept: --out FILE.nc keeps them.")
    attempt(lambda: _warn(result))
    return _FAILED if _FAILED in (status, ended) else status or ended


_SAMPLING = (_run_sample, _run_resume)


def _run_summary(options: argparse.Namespace) -> int:
    from probmodel.results.reading import load

    result = load(options.file)
    _print_result(result)
    _warn(result)
    return 0


def _run_report(options: argparse.Namespace) -> int:
    from pathlib import Path

    from probmodel.fit_page import report

    place = report(options.file, options.out or Path(options.file).with_suffix(".html"))
    _say(f"Written to {place}")
    return 0


def _run_check(options: argparse.Namespace) -> int:
    from probmodel.density import check_model

    report = check_model(bound_model(options, _say))
    _print(report)
    return 0 if report.ok else _FAILED


def _run_show(options: argparse.Namespace) -> int:
    from probmodel.model import to_dot, to_svg
    from probmodel.model.declaration_text import model_latex

    if options.form in ("svg", "dot"):
        drawn = to_svg if options.form == "svg" else to_dot
        given = options.data or options.model.lower().endswith(".stan")
        _print(drawn(bound_model(options, _say) if given else model_class(options)))
        return 0
    model = bound_model(options, _say)
    if options.form == "stan":
        from probmodel.stan.export import to_stan

        _print(to_stan(model).code.rstrip())
        return 0
    _print(model_latex(model) if options.form == "latex" else model)
    return 0


def _run_gallery(options: argparse.Namespace) -> int:
    from probmodel.gallery_pages import copy_page, list_text, page_text

    if options.copy is not None and options.name is None:
        raise ModelError("--copy needs a model: `probmodel gallery NAME --copy FOLDER`.")
    if options.copy is not None:
        _say(copy_page(options.name, options.copy))
    else:
        _print(list_text() if options.name is None else page_text(options.name))
    return 0


def _run_methods(options: argparse.Namespace) -> int:
    from probmodel.samplers import methods_text

    _print(methods_text())
    return 0


def _setting(text: str) -> tuple[str, Any]:
    """Split ``key=value``; the value is read as JSON (numbers, true, null), else as text."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise SamplerError(f"--set takes KEY=VALUE, such as target_accept=0.7; got {text!r}.")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def _print_result(result: Any) -> None:
    """Print how the draws were made, and their table."""
    from probmodel.results.summary import heading, summary_text

    if "method" in result.attrs:
        _print(heading(result.attrs))
    _print(summary_text(result))


def _warn(result: Any) -> None:
    """Write the findings to standard error."""
    for finding in json.loads(result.attrs.get("warnings", "[]")):
        _say(f"warning: {finding['message']}")


def _one_screen(error: BaseException, options: argparse.Namespace) -> str:
    """Return an error as text that fits on a screen."""
    if isinstance(error, ProbmodelError):
        text = f"error: {error_text(error, options)}"
    else:
        text = (
            f"error: {type(error).__name__}: {error}\n"
            "This is an unexpected error; --traceback shows where it arose."
        )
    lines = text.splitlines()
    if len(lines) > _SCREEN:
        left = len(lines) - _SCREEN + 1
        lines = [*lines[: _SCREEN - 1], f"... ({left} more lines; --traceback shows everything)"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
