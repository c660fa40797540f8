#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| coax_robustness::targets::feed("browser_stations", data));
