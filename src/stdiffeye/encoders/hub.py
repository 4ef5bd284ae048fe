"""Models of `transformers` from a local folder or a hub id, never from the network unless the user asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stdiffeye.errors import InputError


def load_model(kind: str, where: str, model_types: tuple[str, ...], download: bool) -> Any:
    """Load a frozen model in evaluation mode.

    Parameters
    ----------
    kind
        The class of `transformers`.
    where
        A folder written by `save_pretrained`, or a hub id.
    model_types
        What `config.json` may call itself; another model would load with random weights.
    download
        Whether a hub id may be fetched; otherwise only what is on this machine is read.
    """
    transformers = require_transformers(kind)
    options: dict[str, Any] = {"local_files_only": not download}
    config = _explained(transformers.AutoConfig.from_pretrained, where, options)
    if config.model_type not in model_types:
        raise InputError(f"{where} is a model of type {config.model_type!r}, expected {' or '.join(model_types)}")
    # Safetensors only: the older weight files are pickles, which run code when they are read.
    options["use_safetensors"] = True
    model, report = _explained(
        getattr(transformers, kind).from_pretrained, where, {**options, "output_loading_info": True}
    )
    if report["missing_keys"]:
        first = sorted(report["missing_keys"])[0]
        raise InputError(f"{where} lacks {len(report['missing_keys'])} weights of {kind}, the first is {first}")
    return model.requires_grad_(False).eval()


def load_tokenizer(where: str, download: bool) -> Any:
    """Load the tokenizer that belongs to a text model."""
    transformers = require_transformers("AutoTokenizer")
    return _explained(transformers.AutoTokenizer.from_pretrained, where, {"local_files_only": not download})


def require_transformers(purpose: str) -> Any:
    """The package, or an error that names the extra."""
    try:
        import transformers
    except ImportError:
        raise InputError(f"{purpose} needs the package transformers: pip install 'stdiffeye[full]'") from None
    return transformers


def _explained(load: Any, where: str, options: dict[str, Any]) -> Any:
    from safetensors import SafetensorError

    try:
        return load(where, **options)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        if Path(where).is_dir():
            raise InputError(f"{where} is not a whole model folder as save_pretrained writes it: {reason}") from None
        if options["local_files_only"]:
            raise InputError(
                f"there is no model {where!r} on this machine: give its folder, or allow the download of a hub id "
                "(download=True, --download)"
            ) from None
        raise InputError(f"the model {where!r} could not be fetched: {reason}") from None
