//! Plays rounds of Nain Jaune uniformly at random at 64 tables, and prints a checksum of all that happened: what ../c/play.c plays.
//!
//!     cargo run --release -- PRESET SEATS ROUNDS [KNOB=NUMBER ...]

use std::{env, process, ptr, slice};

#[allow(dead_code)] // most of what the library has
mod nain_jaune {
    include!(concat!(env!("OUT_DIR"), "/nain_jaune.rs"));
}
use nain_jaune as game;

const TABLES: usize = 64;

/// SplitMix64, the generator of the library's own tables too.
fn next_word(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A uniformly random one of the set bits of `legal`; as `Batch.sample` chooses.
fn random_action(legal: i64, state: &mut u64) -> i32 {
    let mut bits = legal as u64;
    let count = u64::from(bits.count_ones());
    if count > 1 {
        for _ in 0..((next_word(state) >> 32) * count) >> 32 {
            bits &= bits - 1;
        }
    }
    bits.trailing_zeros() as i32
}

/// CRC-32, as zlib has it.
struct Checksum {
    table: [u32; 256],
    crc: u32,
}

impl Checksum {
    fn new() -> Self {
        let table = std::array::from_fn(|n| (0..8).fold(n as u32, |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 }));
        Self { table, crc: !0 }
    }

    fn add<T>(&mut self, items: &[T]) {
        let bytes = unsafe { slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        for byte in bytes {
            self.crc = self.crc >> 8 ^ self.table[((self.crc ^ u32::from(*byte)) & 255) as usize];
        }
    }
}

/// The numbers of the arguments; says what is expected and ends the program where they are others.
fn arguments() -> (usize, i32, usize, Vec<(usize, i64)>) {
    let usage = || -> ! {
        eprintln!("usage: nain-jaune-play PRESET SEATS ROUNDS [KNOB=NUMBER ...]");
        process::exit(2)
    };
    let words: Vec<String> = env::args().skip(1).collect();
    let [preset, seats, rounds, knobs @ ..] = words.as_slice() else { usage() };
    let knob = |word: &String| {
        let (knob, number) = word.split_once('=')?;
        Some((knob.parse().ok().filter(|knob| *knob < game::KNOBS as usize)?, number.parse().ok()?))
    };
    let Ok(preset) = preset.parse() else { usage() };
    let (Ok(seats), Ok(rounds)) = (seats.parse(), rounds.parse()) else { usage() };
    if preset >= game::PRESETS as usize {
        usage()
    }
    (preset, seats, rounds, knobs.iter().map(|word| knob(word).unwrap_or_else(|| usage())).collect())
}

fn main() {
    let (preset, seats, rounds, knobs) = arguments();
    let sizes = [
        0, 0, game::OBSERVATION_2, game::OBSERVATION_3, game::OBSERVATION_4, game::OBSERVATION_5, game::OBSERVATION_6,
        game::OBSERVATION_7, game::OBSERVATION_8,
    ];
    // all zeros: 4 MB, which do not go over the stack
    let mut session: Box<game::Session> = unsafe { Box::<game::Session>::new_zeroed().assume_init() };
    session.knobs = game::KNOBS_OF_PRESETS[preset];
    for (knob, number) in knobs {
        session.knobs[knob] = number;
    }
    for option in [game::OPTION_SKIP_FORCED, game::OPTION_AUTORESET, game::OPTION_OBSERVE] {
        session.numbers[option as usize] = 1;
    }
    unsafe {
        if game::fingerprint() != game::FINGERPRINT {
            eprintln!("The library and nain_jaune.rs are of different versions.");
            process::exit(2);
        }
        let refusal = game::pack(&mut *session, seats);
        if refusal != game::DONE {
            let sentence = if refusal < 0 { "A number is out of range." } else { game::SENTENCES[refusal as usize] };
            eprintln!("{sentence} {:?}", session.details); // {0} in the sentence is details[0]
            process::exit(2);
        }
    }
    let seats = seats as usize;
    let size = sizes[seats] as usize;
    let mut tables: Vec<game::Table> = vec![unsafe { std::mem::zeroed() }; TABLES];
    let (mut observation, mut mask, mut done) = (vec![0u8; TABLES * size], vec![0u8; TABLES * game::ACTIONS as usize], [0u8; TABLES]);
    let (mut legal, mut deals, mut actions) = ([0i64; TABLES], [0i64; TABLES], [0i32; TABLES]);
    let (mut reward, mut credited, mut scratch) = (vec![0i32; TABLES * seats], vec![0i32; TABLES * seats], vec![0i32; seats]);
    let mut batch = game::Batch {
        count: TABLES as i64,
        numbers: session.numbers.as_mut_ptr(),
        tables: tables.as_mut_ptr(),
        start_values: ptr::null_mut(),
        legal: legal.as_mut_ptr(),
        observation: observation.as_mut_ptr(),
        mask: mask.as_mut_ptr(),
        reward: reward.as_mut_ptr(),
        credited: credited.as_mut_ptr(),
        deals: deals.as_mut_ptr(),
        done: done.as_mut_ptr(),
        scratch: scratch.as_mut_ptr(),
    };
    let mut states: [u64; TABLES] = std::array::from_fn(|i| i as u64);
    let mut choices: [u64; TABLES] = std::array::from_fn(|i| (i as u64) << 32);
    let (mut checksum, mut played, mut decisions) = (Checksum::new(), 0, 0);
    assert_eq!(unsafe { game::reset_tables(&mut batch, states.as_mut_ptr()) }, game::DONE);
    while played < rounds {
        for i in 0..TABLES {
            actions[i] = random_action(legal[i], &mut choices[i]);
        }
        assert_eq!(unsafe { game::step_tables(&mut batch, actions.as_mut_ptr()) }, game::DONE);
        checksum.add(&observation);
        checksum.add(&reward);
        checksum.add(&tables);
        decisions += TABLES;
        played += done.iter().map(|ended| usize::from(*ended)).sum::<usize>();
    }
    println!("{played} rounds, {decisions} decisions, checksum {:08x}", !checksum.crc);
}
