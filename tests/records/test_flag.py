from judge.records import Flag, FlagName


def test_a_flag_written_before_there_were_details_still_reads() -> None:
    old = Flag.model_validate_json('{"name":"unverified_quote","sentence":0}')
    assert old == Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=0, detail="")
