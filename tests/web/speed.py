"""How fast the web page is in Chromium: first paint, packets per second, memory, and the time until a slider's effect shows."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import chrome
from peers import subject
from web.main import PAGE, ROOT, Page

MEGABYTES = int(os.environ.get("COAX_WEB_MB", "1000"))
SLIDES = 30


def resident_mb(driver):
    """The largest resident size of a process of the browser, MB."""
    children = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
    renderers = [line.split()[0] for line in children if "--type=renderer" in line]
    peaks = []
    for process in renderers:
        try:
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        peaks += [int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM")]
    return max(peaks, default=0)


def large(folder):
    path = folder / "large.pcapng"
    words = ["lab", "run", "lan-2000-to-2000", "--json", "--set", f"size={MEGABYTES}000000", "--pcap", path]
    done = subprocess.run([subject.coax_binary(), *words], cwd=ROOT, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    return path, told["to_server"]["frames"] + told["to_client"]["frames"]


def main():
    driver = chrome.start()
    driver.set_script_timeout(300)
    try:
        page = Page(driver)
        paint = page.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint {paint:.0f} ms; {PAGE.stat().st_size / 1e6:.1f} MB page")
        with tempfile.TemporaryDirectory() as folder:
            path, frames = large(Path(folder))
            before, started = resident_mb(driver), time.monotonic()
            page.choose_files(path)
            seconds = time.monotonic() - started
            size = path.stat().st_size / 1e6
            print(f"{frames} packets, {size:.0f} MB in {seconds:.1f} s: {frames / seconds / 1e6:.2f} million packets/s, {size / seconds:.0f} MB/s; "
                  f"largest process {before:.0f} MB before, {resident_mb(driver):.0f} MB after")
            short = Path(folder) / "short.pcapng"
            subprocess.run(["editcap", "-s", "192", path, short], check=True)
            page = Page(driver)
            started = time.monotonic()
            page.choose_files(short)
            seconds = time.monotonic() - started
        print(f"the same packets with a snap length of 192 bytes: {seconds:.1f} s, {frames / seconds / 1e6:.2f} million packets/s")
        page = Page(driver)
        page.open_lab()
        shown = driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            const it = document.getElementById('slider-server.stack.receive_window');
            const times = [];
            const next = (step) => {
              if (step === arguments[0]) { done(times); return; }
              const begin = performance.now();
              const seen = new MutationObserver(() => { seen.disconnect(); times.push(performance.now() - begin); setTimeout(() => next(step + 1), 50); });
              seen.observe(document.getElementById('causes'), { childList: true });
              it.value = 60 + step * 3;
              it.dispatchEvent(new Event('input'));
            };
            next(0);""", SLIDES)
        shown.sort()
        print(f"a slider's effect shows after {statistics.median(shown):.0f} ms (median), {shown[-2]:.0f} ms (95 %), while dragging")
    finally:
        driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
