/**
 * Who runs when in a round: the order moves on by one from round to round, and every other round goes backwards, so that
 * nobody comes first more often, or always after the same one.
 */
export function turnOrder(contenders: number, round: number): readonly number[] {
  const forwards = Array.from({ length: contenders }, (_, turn) => (round + turn) % contenders);
  return round % 2 === 0 ? forwards : forwards.reverse();
}
