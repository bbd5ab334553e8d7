//! Numbered places that are used again.

#[derive(Debug)]
pub(super) struct Slab<V> {
    places: Vec<Option<V>>,
    free: Vec<u32>,
}

impl<V> Slab<V> {
    pub fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    pub fn add(&mut self, value: V) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(value);
                place
            }
            None => {
                self.places.push(Some(value));
                self.places.len() as u32 - 1
            }
        }
    }

    pub fn at(&mut self, place: u32) -> &mut V {
        self.places[place as usize].as_mut().expect("a place in use")
    }

    pub fn take(&mut self, place: u32) -> V {
        self.free.push(place);
        self.places[place as usize].take().expect("a place in use")
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }
}
