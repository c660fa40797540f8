"""Messages and profiles: the results are those of the program."""
import json
import random

import pytest

import coax

ECHO = bytes.fromhex("ff534d42" "2b" "00000000" "00" "0000" + "00" * 12 + "ffff" "0100" "0000" "0100" "01" "0100" "0400" "61626364")


def test_fields_are_those_of_the_program(program):
    for digits in ("85000000", ECHO.hex(), f"{len(ECHO):08x}" + ECHO.hex()):
        assert coax.decode(bytes.fromhex(digits)) == json.loads(program("decode", digits, "--json"))
    assert coax.decode(bytearray(ECHO))["message"] == coax.decode(memoryview(ECHO))["message"]


def test_a_kind_may_be_named(program):
    digits = "0001010000010000000000002043"
    assert coax.decode(bytes.fromhex(digits), kind="name") == json.loads(program("decode", digits, "--kind", "name", "--json"))
    with pytest.raises(coax.UnknownNameError, match="there is no kind 'x'; there are session, smb, name, datagram, netbeui"):
        coax.decode(ECHO, kind="x")


def test_any_bytes_have_fields():
    source = random.Random(1)
    for _ in range(300):
        head = source.choice([b"", ECHO[: source.randrange(len(ECHO))]])
        message = head + source.randbytes(source.randrange(1, 200))
        for field in coax.decode(message)["fields"]:
            assert 0 <= field["offset"] <= field["offset"] + field["length"] <= len(message)


@pytest.mark.parametrize("message, error", [("85000000", TypeError), (None, TypeError), ([1, 2], TypeError), (b"", ValueError)])
def test_what_is_no_message_is_refused(message, error):
    with pytest.raises(error, match="message"):
        coax.decode(message)


def test_profiles_are_the_program_s(program):
    assert coax.profiles() == json.loads(program("profiles", "--json"))["profiles"]
    assert coax.profiles("wfw-3.11") == json.loads(program("profiles", "wfw-3.11", "--json"))
    with pytest.raises(coax.UnknownNameError, match="did you mean 'wfw-3.11'"):
        coax.profiles("wfw-311")
    with pytest.raises(TypeError, match="name must be a str"):
        coax.profiles(3)
