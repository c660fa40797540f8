#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| coax_robustness::targets::feed("explain_frames", data));
