"""curl's own SMB code: put and get, NT LM 0.12 with NTLMv1, no listing."""
from .. import corpus
from ..cell import Row, run_command


def cycle(session):
    subject = session.subject
    login = f"{subject.user}:{subject.password}"
    base = f"smb://{subject.host}:{subject.direct}/{subject.share}"

    def curl(*arguments):
        # the domain comes before the user; curl takes the host's name otherwise
        run_command(["curl", "-sS", "--max-time", "30", "-u", login, *arguments])

    def put():
        for name in corpus.SIZES:
            curl("-T", str(session.originals / name), f"{base}/drafts/{name}")
        session.expect_put()

    def get():
        for name in corpus.SIZES:
            curl("-o", str(session.fetched / name), f"{base}/planted/{name}")
            (session.fetched / name).touch()  # curl writes no file when there are no bytes
        session.expect_got()

    for step in ("shares", "mkdir", "list", "rename", "attr", "delete", "rmdir"):
        session.skip(step, "curl has no such command")
    (session.share / "drafts").mkdir(mode=0o777)
    (session.share / "drafts").chmod(0o777)
    session.step("put", put)
    session.step("get", get)


ROWS = [Row("curl", cycle, needs=("curl",))]
