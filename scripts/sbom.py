"""A bill of materials: ``python scripts/sbom.py [EXTRA …] > sbom.json`` (CycloneDX 1.5).

Lists the installed packages that a plain install brings, and those of the extras named, each with its version, its licence and
the libraries in machine code that its wheel bundles (libgfortran, OpenBLAS, HDF5, FFmpeg …), with their hashes. What a wheel has
linked into its own modules cannot be seen from outside; what is known of it stands in ``LINKED``, and the bill says so.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from licences import dependencies, licence

LINKED = {
    "llvmlite": ("LLVM",),
    "vl-convert-python": ("Deno", "V8", "Vega", "Vega-Lite", "resvg"),
    "cryptography": ("OpenSSL",),
    "deflate": ("libdeflate",),
    "onnxruntime": ("ONNX", "protobuf", "Eigen"),
    "opencv-python-headless": (
        "libjpeg-turbo",
        "libpng",
        "libtiff",
        "libwebp",
        "OpenJPEG",
        "OpenEXR",
        "protobuf",
        "zlib",
    ),
    "pyarrow": ("Arrow", "Parquet", "jemalloc", "mimalloc", "OpenSSL", "libcurl"),
}
"""Known to be linked into modules, in versions that a wheel does not tell."""

BUNDLED = re.compile(
    r"^(?:lib)?(?P<name>[A-Za-z0-9_+]+?)(?:-[0-9a-f]{6,})?(?:[-.](?P<inner>[0-9][0-9.]*))?\.(?:so|dylib|dll)(?:\.(?P<version>[0-9.]+))?$"
)


def bundled(name: str) -> list[dict[str, Any]]:
    """The libraries that the wheel of a package has beside its own modules."""
    found = []
    for file in metadata.files(name) or ():
        path = PurePosixPath(file.as_posix())
        beside = any(part.endswith((".libs", ".dylibs")) for part in path.parts[:-1])
        library = re.match(r"lib[a-z].*\.(so|dylib)(\.|$)", path.name) and not re.search(r"\.(cpython|abi3)", path.name)
        match = BUNDLED.match(path.name)
        if match is None or not (beside or library):
            continue
        entry: dict[str, Any] = {
            "type": "library",
            "name": match["name"],
            "properties": [{"name": "file", "value": str(path)}],
        }
        if version := match["version"] or match["inner"]:
            entry["version"] = version
        if file.hash is not None and file.hash.mode == "sha256":
            digest = base64.urlsafe_b64decode(file.hash.value + "=" * (-len(file.hash.value) % 4)).hex()
            entry["hashes"] = [{"alg": "SHA-256", "content": digest}]
        found.append(entry)
    return found


def component(name: str) -> dict[str, Any]:
    """A package as CycloneDX says it, with what it bundles."""
    version = metadata.version(name)
    linked = [
        {"type": "library", "name": one, "properties": [{"name": "linked", "value": "statically, version unknown"}]}
        for one in LINKED.get(name, ())
    ]
    inside = bundled(name) + linked
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "purl": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"license": {"name": licence(name) or "not stated"}}],
        **({"components": inside} if inside else {}),
    }


def bill(extras: tuple[str, ...] = ()) -> dict[str, Any]:
    """The whole bill."""
    own = {"type": "application", "name": "hyperacuity", "version": metadata.version("hyperacuity")}
    installed = {re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower() for each in metadata.distributions()}
    names = sorted(dependencies("hyperacuity", extras) & installed)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": [component(name) for name in names],
    }


def main() -> int:
    """Print the bill, and how much it holds."""
    found = bill(tuple(sys.argv[1:]))
    json.dump(found, sys.stdout, indent=1)
    print()
    inside = [one for part in found["components"] for one in part.get("components", ())]
    print(f"{len(found['components'])} packages, {len(inside)} libraries inside them", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
