#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| coax_robustness::targets::feed("decode_frames", data));
