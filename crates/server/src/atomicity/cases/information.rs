//! File metadata: attributes, times, lengths, extended attributes, security descriptors.

use super::*;

pub fn metadata() -> Vec<Case> {
    let mut cases = vec![
        case("QUERY_INFORMATION", ALL, nothing, |client, _| {
            done(&client.paths(c::QUERY_INFORMATION, &[], &["dir\\a"]))
        }),
        case("SET_INFORMATION", ALL, nothing, |client, _| {
            done(&client.paths(
                c::SET_INFORMATION,
                &[0x21, 0x4000, 0x6a00, 0, 0, 0, 0, 0],
                &["F"],
            ))
        }),
        case(
            "QUERY_INFORMATION2",
            SINCE_LANMAN,
            opened,
            |client, fids| done(&client.request(c::QUERY_INFORMATION2, &[fids[0]], b"")),
        ),
        case("SET_INFORMATION2", SINCE_LANMAN, opened, |client, fids| {
            let time = [0x2a21, 0x6000];
            let words = [
                fids[0], time[0], time[1], time[0], time[1], time[0], time[1],
            ];
            done(&client.request(c::SET_INFORMATION2, &words, b""))
        }),
        case("QUERY_INFORMATION_DISK", ALL, nothing, |client, _| {
            done(&client.request(c::QUERY_INFORMATION_DISK, &[], b""))
        }),
        case(
            "TRANS2_QUERY_FS_INFORMATION",
            SINCE_LANMAN,
            nothing,
            |client, _| done(&client.trans2(3, &1u16.to_le_bytes(), b"").answer),
        ),
    ];
    cases.extend(metadata_by_trans2());
    cases.extend(metadata_by_nt());
    cases
}

fn metadata_by_trans2() -> Vec<Case> {
    vec![
        case(
            "standard information and EA size by path",
            SINCE_LANMAN,
            nothing,
            |client, _| done(&client.query_path(2, "F").answer),
        )
        .with_attributes(),
        case(
            "extended attributes by FID",
            SINCE_LANMAN,
            opened,
            |client, fids| done(&client.query_fid(4, fids[0]).answer),
        )
        .with_attributes(),
        case(
            "extended attributes are set by path",
            SINCE_LANMAN,
            nothing,
            |client, _| {
                let list = ea_list(&[("COMMENT", "new"), ("TYPE", "text"), ("X", "y")]);
                done(&client.set_path(2, "F", &list))
            },
        )
        .with_attributes(),
        case(
            "extended attributes are removed and set by FID",
            SINCE_LANMAN,
            opened,
            |client, fids| {
                let list = ea_list(&[("COMMENT", ""), ("TYPE", "text")]);
                done(&client.set_fid(2, fids[0], &list))
            },
        )
        .with_attributes(),
        case("TRANS2_OPEN2 opens", SINCE_LANMAN, nothing, |client, _| {
            done(&open2(client, "F", 0x01, false))
        })
        .with_attributes(),
    ]
}

fn metadata_by_nt() -> Vec<Case> {
    vec![
        case("all information by path", NT_ONLY, nothing, |client, _| {
            done(&client.query_path(0x107, "A long name.text").answer)
        }),
        case(
            "the alternate name by FID",
            NT_ONLY,
            opened,
            |client, fids| done(&client.query_fid(0x108, fids[0]).answer),
        ),
        case(
            "basic information by path",
            NT_ONLY,
            nothing,
            |client, _| done(&client.set_path(0x101, "F", &basic(0x03))),
        ),
        case(
            "basic information by FID",
            NT_ONLY,
            opened,
            |client, fids| done(&client.set_fid(0x101, fids[0], &basic(0x22))),
        ),
        case("the length is extended", NT_ONLY, opened, |client, fids| {
            done(&client.set_fid(0x104, fids[0], &9000u64.to_le_bytes()))
        }),
        case("the length is cut", NT_ONLY, opened, |client, fids| {
            done(&client.set_fid(0x104, fids[0], &4u64.to_le_bytes()))
        }),
        case("space is reserved", NT_ONLY, opened, |client, fids| {
            done(&client.set_fid(0x103, fids[0], &9000u64.to_le_bytes()))
        }),
        case("space is cut", NT_ONLY, opened, |client, fids| {
            done(&client.set_fid(0x103, fids[0], &4u64.to_le_bytes()))
        }),
        case(
            "a file is marked for deletion",
            NT_ONLY,
            opened,
            |client, fids| done(&client.set_fid(0x102, fids[0], &[1])),
        ),
        case("a descriptor is set", NT_ONLY, opened, |client, fids| {
            done(&set_security(client, fids[0]))
        })
        .with_attributes(),
        case("a descriptor is read", NT_ONLY, opened, |client, fids| {
            done(&query_security(client, fids[0]))
        }),
    ]
}
