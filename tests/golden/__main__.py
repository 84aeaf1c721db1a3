"""Write the golden records; see the package's docstring."""

from nainjaune_env.core.speech import LANGUAGES
from nainjaune_env.records.record import show_record, verify_record, write_records
from tests.golden import CASES, FOLDER, SHOWN, play

for name, case in CASES.items():
    record = play(case)
    write_records(FOLDER / f"{name}.jsonl", [record], overwrite=True)
    print(f"{name}.jsonl: rounds: {verify_record(record)}")
    if name in SHOWN:
        for language in LANGUAGES:
            (FOLDER / f"{name}.{language}.txt").write_text(show_record(record, language), encoding="utf-8")
