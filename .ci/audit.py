"""Known vulnerabilities of what `.ci/lock.txt` names, and a bill of materials: `audit.py SBOM`.

Exits with 1 where a version is known to be vulnerable. Where no database can be reached it says so
and ends well: a check that was not made is no failure, and no success either.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

LOCK: Final = Path(__file__).with_name("lock.txt")
BIN: Final = Path(sys.executable).parent


def vulnerabilities() -> int:
    """Print what is known of each locked package; how many of them are vulnerable."""
    command = (BIN / "pip-audit", "-r", LOCK, "--disable-pip", "--format", "json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        said = done.stderr.strip().splitlines()[-1:]
        print(f"vulnerabilities: skipped, pip-audit could not ask its database: {said}")
        return 0
    known = [package for package in packages if "skip_reason" not in package]
    found = [package for package in known if package["vulns"]]
    for package in found:
        names = ", ".join(each["id"] for each in package["vulns"])
        print(f"{package['name']} {package['version']}: {names}")
    if not known:
        print("vulnerabilities: skipped, the database knows none of the packages from here")
    else:
        print(f"vulnerabilities: {len(found)} of {len(known)} packages vulnerable", end="; ")
        print(f"{len(packages) - len(known)} not looked up")
    return len(found)


def bill(path: Path) -> None:
    """Write the bill of materials (CycloneDX) of the lock file, with its hashes."""
    command = (BIN / "cyclonedx-py", "requirements", LOCK, "--output-file", path)
    subprocess.run(command, check=True)
    print(f"bill of materials: {len(json.loads(path.read_bytes())['components'])} packages")


if __name__ == "__main__":
    bill(Path(sys.argv[1]))
    sys.exit(bool(vulnerabilities()))
