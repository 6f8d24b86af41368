import type { A2AEnvelope } from '../runtime/protocol/envelope.ts';
import type { Finding } from './envelope.ts';
import { type Layout, receiversOf } from './team.ts';

/** What a receiver answers when it is asked about a finding. */
export interface Verdict {
  readonly accepted: boolean;
  readonly line: number;
}

/** What a receiver keeps; `lines` is a sum, so that every payload is really read. */
export interface Tally {
  handled: number;
  lines: number;
}

/** The work that every receiver of every contender does with a finding. */
export function inspectFinding(tally: Tally, finding: Pick<Finding, 'line'>): Verdict {
  tally.handled += 1;
  tally.lines += finding.line;
  return { accepted: true, line: finding.line };
}

/** The receivers of a raw contender: finds the addressee of an envelope by its id and lets it work. */
export function receiverTable(layout: Layout): (envelope: A2AEnvelope) => Verdict {
  const tallies = new Map(
    receiversOf(layout).map(({ id }): [string, Tally] => [id, { handled: 0, lines: 0 }]),
  );
  return ({ recipient, payload }) => {
    const tally = tallies.get(recipient);
    if (tally === undefined) throw new Error(`No receiver ${recipient}`);
    return inspectFinding(tally, payload as Finding);
  };
}
