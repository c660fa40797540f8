//! Groups of fields that the layouts of frames describe.

use crate::{
    item,
    layout::Tables,
    walk::{Step, Walk},
};

/// Goes through the fields of a layout, as a group.
pub(crate) fn part(walk: &mut Walk<'_, '_>, name: &str) -> Step {
    let Some(layout) = Tables::get().frame(name) else {
        return Ok(());
    };
    let (start, index, depth) = (walk.at, walk.out.fields.len(), walk.depth);
    let group = walk.group(layout.name, 0);
    layout.source.clone_into(&mut group.meaning);
    walk.depth = depth.saturating_add(1);
    let done = item::items(walk, &layout.words);
    walk.depth = depth;
    grow(walk, index, start);
    done
}

/// A group that began at `start` reaches to here.
pub(crate) fn grow(walk: &mut Walk<'_, '_>, index: usize, start: usize) {
    let len = walk.at.saturating_sub(start);
    if let Some(group) = walk.out.fields.get_mut(index) {
        group.len = len;
    }
}
