//! Where the elements of a chunked dataset lie in the file. Invariant: every chunk is allocated and holds its elements
//! in row-major order without filters, so an element's place is arithmetic.

use sago_core::extent::Extent;

#[derive(Debug, PartialEq, Eq)]
pub struct Chunks {
    dims: Vec<u64>,
    chunk: Vec<u64>,
    /// How many chunks there are in each dimension.
    grid: Vec<u64>,
    element_bytes: u64,
    addresses: Addresses,
}

#[derive(Debug, PartialEq, Eq)]
enum Addresses {
    /// One after the other.
    Regular {
        first: u64,
        step: u64,
    },
    Listed(Vec<u64>),
}

impl Chunks {
    /// From each chunk's first element and its address; `None` if some are missing or make no sense.
    pub fn new(dims: &[u64], chunk: &[u64], element_bytes: u64, found: &[(Vec<u64>, u64)]) -> Option<Self> {
        let grid: Vec<u64> = dims.iter().zip(chunk).map(|(&dim, &chunk)| dim.div_ceil(chunk)).collect();
        let count = usize::try_from(grid.iter().product::<u64>()).ok()?;
        if found.len() != count {
            return None;
        }
        let mut listed = vec![u64::MAX; count];
        for (offset, address) in found {
            let mut index = 0;
            for ((&at, &chunk), &grid) in offset.iter().zip(chunk).zip(&grid) {
                if at % chunk != 0 || at / chunk >= grid {
                    return None;
                }
                index = index * grid + at / chunk;
            }
            listed[usize::try_from(index).ok()?] = *address;
        }
        if listed.contains(&u64::MAX) {
            return None;
        }
        let step = chunk.iter().product::<u64>() * element_bytes;
        let regular = listed.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(step));
        let addresses = match listed.first() {
            Some(&first) if regular => Addresses::Regular { first, step },
            _ => Addresses::Listed(listed),
        };
        Some(Self { dims: dims.to_vec(), chunk: chunk.to_vec(), grid, element_bytes, addresses })
    }

    /// Where `count` elements from number `first` on lie, in their order.
    pub fn extents(&self, first: u64, count: u64, mut visit: impl FnMut(Extent)) {
        let rank = self.dims.len();
        let mut at = vec![0; rank];
        let mut rest = first;
        for i in (0..rank).rev() {
            at[i] = rest % self.dims[i];
            rest /= self.dims[i];
        }
        let mut left = count;
        while left > 0 {
            let last = rank - 1;
            let to_edge = (self.chunk[last] - at[last] % self.chunk[last]).min(self.dims[last] - at[last]);
            let len = to_edge.min(left);
            visit(Extent::new(self.address(&at), len * self.element_bytes));
            left -= len;
            at[last] += len;
            for i in (1..rank).rev() {
                if at[i] == self.dims[i] {
                    at[i] = 0;
                    at[i - 1] += 1;
                }
            }
        }
    }

    /// Where the chunk lies that begins with this element, if one does.
    pub fn chunk_at(&self, first: &[u64]) -> Option<Extent> {
        let begins = |((at, chunk), dim): ((&u64, &u64), &u64)| at % chunk == 0 && at < dim;
        let there =
            first.len() == self.dims.len() && first.iter().zip(&self.chunk).zip(&self.dims).all(begins);
        let bytes = self.chunk.iter().product::<u64>() * self.element_bytes;
        there.then(|| Extent::new(self.address(first), bytes))
    }

    fn address(&self, at: &[u64]) -> u64 {
        let (mut index, mut inside) = (0, 0);
        for ((&at, &chunk), &grid) in at.iter().zip(&self.chunk).zip(&self.grid) {
            index = index * grid + at / chunk;
            inside = inside * chunk + at % chunk;
        }
        let start = match &self.addresses {
            Addresses::Regular { first, step } => first + index * step,
            Addresses::Listed(listed) => listed[index as usize],
        };
        start + inside * self.element_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;

    #[test]
    fn every_element_is_found_where_its_chunk_has_it() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let rank = 1 + random.below(3) as usize;
            let dims: Vec<u64> = (0..rank).map(|_| 1 + random.below(7)).collect();
            let chunk: Vec<u64> = dims.iter().map(|dim| 1 + random.below(*dim)).collect();
            let grid: Vec<u64> = dims.iter().zip(&chunk).map(|(d, c)| d.div_ceil(*c)).collect();
            let size = chunk.iter().product::<u64>() * 4;
            let regular = random.below(2) == 0;
            let mut found = Vec::new();
            for index in 0..grid.iter().product() {
                let (mut rest, mut offset) = (index, vec![0; rank]);
                for i in (0..rank).rev() {
                    offset[i] = rest % grid[i] * chunk[i];
                    rest /= grid[i];
                }
                let address = 1000 + if regular { index } else { index * 3 % 1009 } * size;
                found.push((offset, address));
            }
            let chunks = Chunks::new(&dims, &chunk, 4, &found).unwrap();
            let total: u64 = dims.iter().product();
            let (a, b) = (random.below(total), random.below(total + 1));
            let (from, to) = (a.min(b), a.max(b));
            let mut places = Vec::new();
            chunks.extents(from, to - from, |extent| {
                places.extend((0..extent.len.0).step_by(4).map(|i| extent.offset.0 + i));
            });
            let expected: Vec<u64> = (from..to)
                .map(|element| {
                    let (mut rest, mut at) = (element, vec![0; rank]);
                    for i in (0..rank).rev() {
                        at[i] = rest % dims[i];
                        rest /= dims[i];
                    }
                    let home = |(offset, _): &&(Vec<u64>, u64)| {
                        (0..rank).all(|i| offset[i] <= at[i] && at[i] < offset[i] + chunk[i])
                    };
                    let (offset, address) = found.iter().find(home).unwrap();
                    let inside = (0..rank).fold(0, |sum, i| sum * chunk[i] + at[i] - offset[i]);
                    address + 4 * inside
                })
                .collect();
            assert_eq!(places, expected, "seed {seed}");
        }
    }

    #[test]
    fn a_chunk_is_found_by_its_first_element() {
        let found = [(vec![0, 0], 100), (vec![0, 2], 300), (vec![3, 0], 200), (vec![3, 2], 400)];
        let chunks = Chunks::new(&[4, 3], &[3, 2], 4, &found).unwrap();
        assert_eq!(chunks.chunk_at(&[3, 0]), Some(Extent::new(200, 24)));
        for nowhere in [&[1, 0][..], &[6, 0], &[0, 4], &[0], &[0, 0, 0]] {
            assert_eq!(chunks.chunk_at(nowhere), None);
        }
    }

    #[test]
    fn missing_chunks_are_noticed() {
        let all = [(vec![0], 100), (vec![4], 116)];
        assert!(Chunks::new(&[7], &[4], 4, &all).is_some());
        assert_eq!(Chunks::new(&[7], &[4], 4, &all[..1]), None);
        assert_eq!(Chunks::new(&[7], &[4], 4, &[all[0].clone(), all[0].clone()]), None);
        assert_eq!(Chunks::new(&[7], &[4], 4, &[all[0].clone(), (vec![8], 116)]), None);
    }
}
