"""The lab: the results are those of the program."""
import json

import pyarrow
import pyarrow.parquet
import pytest

import coax
from coax import lab

GRID = {"client": ["ms-net-3.11-full", "wfw-3.11"], "link.delay": "0..60 ms:3"}
LOSS = '{kind="random",probability=0.001}'
RANGES = {"link.delay": "0..20 ms", "link.rate": "1..100 Mbit/s:log", "client": "wfw-3.11,windows-98"}


def words(option, values):
    return [word for key, value in values.items() for word in (option, f"{key}={value if isinstance(value, str) else ','.join(value)}")]


def test_the_json_of_every_scenario_is_the_program_s_byte_for_byte(program):
    names = lab.scenarios()
    assert len(names) > 10
    for name in names:
        found = lab.run(name, size="200kB")
        assert found.json == program("lab", "run", name, "--set", "size=200kB", "--json"), name
        assert found.failed or sum(found.causes_s.values()) == pytest.approx(found.seconds)


def test_a_cell_of_a_table_has_its_published_figure(program):
    name = "samba-speed/wfw-486/read"
    found = lab.run(name)
    assert found.json == program("lab", "run", name, "--json") and found.data["cell"]["published"] > 0


def test_changes_may_be_words_or_a_mapping(program):
    expected = program("lab", "run", "dos-dls-5.0-full", "--set", "size=1MB", "--set", "link.delay=20 ms", "--seed", 7, "--json")
    assert lab.run("dos-dls-5.0-full", {"size": "1MB", "link.delay": "20 ms"}, seed=7).json == expected
    assert lab.run("dos-dls-5.0-full", {"size": 1_000_000}, link__delay="20 ms", seed=7).json == expected


def test_a_scenario_may_be_a_file_and_a_capture_is_explained(program, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('title = "mine"\nsize = 1000000\nlink = "ethernet-10"\n[client]\nprofile = "wfw-3.11"\n')
    try:
        run = lab.run(file, pcap=tmp_path / "copy.pcapng")
    except coax.ScenarioError as error:
        pytest.fail(str(error))
    report = coax.explain(tmp_path / "copy.pcapng")
    assert report.copies[0].bytes == run.bytes == 1_000_000
    assert report.copies[0].wall_s == pytest.approx(run.seconds, rel=0.01)
    assert (tmp_path / "copy.pcapng.truth.json").exists()


def test_a_copy_that_fails_is_a_result():
    run = lab.run("dos-ms-net-full", size="1MB", client__card__tx_ring=4, client__stack__karn="keep")
    assert run.failed and run.bytes == 0 and "failed" in repr(run)


def test_a_sweep_is_the_program_s_table(program, tmp_path):
    program("lab", "sweep", "dos-dls-5.0-full", "--set", "size=100kB", *words("--grid", GRID), "--parquet", tmp_path / "runs.parquet", "--json")
    expected = pyarrow.parquet.read_table(tmp_path / "runs.parquet")
    for threads in (1, 3):
        found = lab.sweep("dos-dls-5.0-full", set={"size": "100kB"}, grid=GRID, threads=threads)
        assert found.num_rows == 6 and found.to_pylist() == expected.to_pylist()
        assert found.column_names == expected.column_names
    about = json.loads(expected.schema.metadata[b"coax.columns"])
    for field in found.schema:
        assert field.metadata.get(b"unit", b"").decode() == about[field.name]["unit"]
        assert field.metadata[b"description"].decode() == about[field.name]["description"]


@pytest.mark.parametrize("replicates", [1, 2])
def test_indices_of_shards_in_any_order_are_those_of_the_whole_sweep(program, replicates):
    common = {"set": {"size": "100kB", "link.loss_to_client.rule": LOSS}, "sample": "saltelli:16", "ranges": RANGES, "replicates": replicates}
    told = json.loads(program("lab", "sweep", "dos-dls-5.0-full", "--set", "size=100kB", "--set", f"link.loss_to_client.rule={LOSS}", "--sample", "saltelli:16",
                              *words("--range", RANGES), "--replicates", replicates, "--json"))
    whole = lab.sensitivity(lab.sweep("dos-dls-5.0-full", **common))
    parts = [lab.sweep("dos-dls-5.0-full", **common, shard=(index, 3)) for index in (3, 1, 2)]
    assert lab.sensitivity(parts) == whole
    for key in told["sensitivity"]:
        assert whole[key["key"]] == (key["first_order"], key["first_order_half_width_95"], key["total"], key["total_half_width_95"])
    with pytest.raises(coax.ScenarioError, match="point 0 is missing"):
        lab.sensitivity(parts[:1] + parts[2:])
    with pytest.raises(coax.ScenarioError, match="is there twice"):
        lab.sensitivity([*parts, parts[0]])
    with pytest.raises(coax.ScenarioError, match="different sweeps"):
        lab.sensitivity([parts[0], lab.sweep("dos-dls-5.0-full", **{**common, "sample": "saltelli:8"})])


def test_indices_need_their_points():
    with pytest.raises(coax.ScenarioError, match="saltelli"):
        lab.sensitivity(lab.sweep("dos-dls-5.0-full", set={"size": "100kB"}, grid={"link.delay": ["0 ms", "5 ms"]}))
    with pytest.raises(TypeError):
        lab.sensitivity("table")


def test_published_tables_are_the_program_s(program):
    assert lab.tables("pc-8088") == json.loads(program("lab", "tables", "pc-8088", "--json"))["tables"]


COPIES = """scenario = "wfw-486"
[unknown]
"client.packet" = "100 us..10 ms:log"
[[copy]]
name = "read"
direction = "to-client"
size = "100kB"
seconds = 0.5
[[predict]]
name = "write"
direction = "to-server"
size = "100kB"
"""


def test_the_json_of_an_estimate_is_the_program_s_byte_for_byte(program, tmp_path):
    file, json_file = tmp_path / "copies.toml", tmp_path / "speed.csv"
    file.write_text(COPIES)
    json_file.write_text("name,kind,direction,size,seconds\nraw,speed,to-client,100kB,0.3\n")
    told = program("lab", "fit", file, json_file, "--members", 8, "--seed", 3, "--deviation", 0.05, "--cap", "60kB", "--set", "link.delay=1 ms",
                   "--unknown", "client.packet=100 us..10 ms:log", "--unknown", "client.request",
                   "--predict", "direction=to-client,size=300kB,link.delay=5 ms", "--out", tmp_path / "mine.toml", "--json")
    found = lab.fit([file, json_file], members=8, seed=3, deviation=0.05, cap="60kB", set={"link.delay": "1 ms"},
                    unknown={"client.packet": "100 us..10 ms:log", "client.request": True},
                    predict=[{"direction": "to-client", "size": "300kB", "link.delay": "5 ms"}])
    assert found.json == told
    assert found.scenario == (tmp_path / "mine.toml").read_text()
    packet = found.parameters["client.packet"]
    assert packet.unit == "s" and packet.possible == (1e-4, 1e-2) and packet.low <= packet.estimate <= packet.high
    assert [one.name for one in found.predictions] == ["write", "direction=to-client,size=300kB,link.delay=5 ms"]
    assert found.fitted[0].measured_s == 0.5 and found.runs > 8 and found.deviation >= 0.05 and "client.packet" in repr(found)
    assert lab.fit(file, members=8).text == program("lab", "fit", file, "--members", 8)
    run = lab.run(tmp_path / "mine.toml", size="100kB", direction="to-client")
    assert run.seconds == pytest.approx(0.5, rel=0.5)


def test_measured_copies_may_be_mappings(program, tmp_path):
    copies = [{"seconds": 0.5, "direction": "to-client", "size": "100kB"}, {"seconds": 1, "name": 'with "quotes", commas', "size": 200_000}]
    file = tmp_path / "measured"
    file.write_text('seconds,name,direction,size\n0.5,copy 1,to-client,100kB\n1,"with ""quotes"", commas",,200000\n')
    told = program("lab", "fit", file, "--scenario", "wfw-486", "--unknown", "client.packet", "--members", 8, "--json")
    found = lab.fit(copies, scenario="wfw-486", unknown=["client.packet"], members=8)
    assert found.json == told and found.fitted[1].name == 'with "quotes", commas'


COPY = [{"seconds": 1, "size": "100kB"}]


@pytest.mark.parametrize("call, error, message", [
    (lambda: lab.fit("no/where.toml"), coax.OutputError, "cannot read no/where.toml"),
    (lambda: lab.fit(COPY, scenario="nope"), coax.ScenarioError, "there is no scenario 'nope'"),
    (lambda: lab.fit(COPY, unknown=["link.colour"]), coax.ScenarioError, "link.colour"),
    (lambda: lab.fit(COPY, unknown=["client.packet", "client.packet"]), coax.ScenarioError, "'client.packet' is given twice"),
    (lambda: lab.fit(COPY, members=7), coax.ScenarioError, "a population has 8 to 2000 members"),
    (lambda: lab.fit(COPY, deviation=2), coax.ScenarioError, "a deviation of 2 is not possible"),
    (lambda: lab.fit(COPY, cap="big"), coax.ScenarioError, "cap: "),
    (lambda: lab.fit([{"seconds": 1, "colour": 2}]), coax.ScenarioError, "colour"),
    (lambda: lab.fit(COPY, predict=[{"colour": 2}]), coax.ScenarioError, "colour"),
    (lambda: lab.fit([]), coax.ScenarioError, "there is no measured copy"),
    (lambda: lab.fit(COPY, predict=[{}]), ValueError, "predict[0] is empty"),
    (lambda: lab.fit(COPY, predict=[{"size": "1,5MB"}]), ValueError, "a value with a comma: size=1,5MB"),
    (lambda: lab.fit([{"seconds": 1, "name": "a\nb"}]), ValueError, "measured[0] has a value with a line break"),
    (lambda: lab.fit([{"seconds": 0}]), ValueError, "seconds of measured[0] must be positive"),
    (lambda: lab.fit([{"size": "1MB"}]), TypeError, "seconds of measured[0] must be a number, not NoneType"),
    (lambda: lab.fit({"seconds": 1}), TypeError, "not one mapping"),
    (lambda: lab.fit(3), TypeError, "measured must be a path or an iterable of paths, not int"),
    (lambda: lab.fit(COPY, unknown="client.packet"), TypeError, "unknown must be a list of names"),
    (lambda: lab.fit(COPY, unknown={"client.packet": 3}), TypeError, "the range of client.packet must be a str, not int"),
    (lambda: lab.fit(COPY, predict={"size": "1MB"}), TypeError, "predict must be a list of mappings, not dict"),
    (lambda: lab.fit(COPY, members="8"), TypeError, "members must be an int, not str"),
    (lambda: lab.fit(COPY, deviation="3 %"), TypeError, "deviation must be a number, not str"),
])
def test_what_cannot_be_fitted_is_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize("call, error, message", [
    (lambda: lab.run("nope"), coax.ScenarioError, "there is no scenario 'nope'"),
    (lambda: lab.run("dos-386sx", nonsense=1), coax.ScenarioError, "nonsense"),
    (lambda: lab.run("dos-386sx", size="x"), coax.ScenarioError, "`x` is not a size"),
    (lambda: lab.run("no/where.toml"), coax.OutputError, "cannot read no/where.toml"),
    (lambda: lab.run("dos-386sx", size="1kB", pcap="no/where.pcap"), coax.OutputError, "where.pcap cannot be written"),
    (lambda: lab.run("dos-386sx", tap="roof"), ValueError, "tap is client, server or wire"),
    (lambda: lab.run("dos-386sx", seed=-1), ValueError, "seed must be at least 0"),
    (lambda: lab.sweep("dos-386sx", grid={"size": ["1kB", "x"]}), coax.ScenarioError, "`x` is not a size"),
    (lambda: lab.sweep("dos-386sx", grid={"seed": range(20_000)}), coax.ScenarioError, "more runs than the 10000"),
    (lambda: lab.sweep("dos-386sx", sample="dice:3"), coax.ScenarioError, "dice"),
    (lambda: lab.tables("nope"), coax.ScenarioError, "nope"),
    (lambda: lab.run(3), TypeError, "scenario must be a path"),
    (lambda: lab.run("dos-386sx", [1]), TypeError, "changes must be a mapping of keys to values, not list"),
    (lambda: lab.run("dos-386sx", link__delay=[1]), TypeError, "the value of link__delay must be a str, int, float or bool, not list"),
    (lambda: lab.run("dos-386sx", seed=1.5), TypeError, "seed must be an int, not float"),
    (lambda: lab.sweep("dos-386sx", grid="size=1"), TypeError, "grid must be a mapping"),
    (lambda: lab.sweep("dos-386sx", threads="2", grid={"size": ["1kB"]}), TypeError, "threads must be an int"),
    (lambda: lab.sweep("dos-386sx", shard=[1, 2]), TypeError, "shard must be a tuple"),
])
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
