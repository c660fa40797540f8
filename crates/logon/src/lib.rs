#![no_std]
//! stub
extern crate alloc;
