// A deal of docs/protocol.md and the moves that win it.

export const DAILY = "cards:6S8D2C9D5CQH8HJS4D4S8S9HQD6D7S7H3HTSTDAHKC7C3DJCAC6C3S5STCQS2HKH2DJD" +
  "TH7D6H8C4C4HASKS2SQC3CAD9C5H9SJH5DKD";

export const SOLUTION = ("6h 1a 3b 73 78 75 7h 18 1h bh 73 37v4 3h 3b 3c 43 43 46 4d 81 1h 5h 23 " +
  "53 16 51 51 c4 2c 25 25 7h 4h ah 64 6a 6h 4h 43 bh 5h 5h 82 8b").split(" ");
