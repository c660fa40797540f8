"""A headless Chromium, driven by chromedriver, that must not reach any network."""
import base64
import json
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# no sandbox: tests run as root in containers too; no name can be resolved, so nothing can leave
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--force-color-profile=srgb"]


def start(*reachable):
    """Chromium; `reachable` are addresses that it may connect to."""
    options = Options()
    options.binary_location = shutil.which("chromium")
    resolved = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {address}" for address in reachable)])
    for argument in [*ARGUMENTS, f"--host-resolver-rules={resolved}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(60)
    driver.set_script_timeout(30)
    return driver


def size(driver, width, height, phone=False):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone})


def scheme(driver, name):
    """The colours that the system prefers: light or dark."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def complaints(driver):
    """What the page wrote to the console as a warning or worse since this was last asked."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]


def requests(driver):
    """Addresses that were asked for since this was last asked."""
    found = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            found.append(message["params"]["request"]["url"])
    return found


def picture(driver, path, whole=True):
    height = driver.execute_script("return document.documentElement.scrollHeight")
    options = {"captureBeyondViewport": whole}
    if whole:
        width = driver.execute_script("return document.documentElement.clientWidth")
        options["clip"] = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
    path.write_bytes(base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))
