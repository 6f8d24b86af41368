import { randomBytes } from 'node:crypto';
import type { A2AEnvelope, A2AMessageType } from '../runtime/protocol/envelope.ts';
import { addresseesOf, type Layout, SENDERS } from './team.ts';

/** What the measured agents write to each other: a finding of an audit. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly severity: string;
  readonly rule: string;
  readonly message: string;
  readonly evidence: string[];
  readonly confidence: number;
}

const SEVERITIES = ['low', 'medium', 'high'];
const RULES = ['no-floating-promises', 'no-import-cycles', 'no-hard-coded-secrets', 'no-unchecked-index'];

/** The `n`-th finding: some values come again and again, others never, as in real traffic. */
export function makeFinding(n: number): Finding {
  return {
    file: `runtime/mailbox/lane-${n % 97}.ts`,
    line: 1 + (n % 3989),
    severity: SEVERITIES[n % 3] ?? 'low',
    rule: RULES[n % 4] ?? 'unknown',
    message: `The promise of flush() is dropped (${n})`,
    evidence: ['lane.flush();', `${n} of ${n + 7}`],
    confidence: 0.87,
  };
}

/** Makes the `n`-th envelope of a team as a raw sender has to: 480 bytes as JSON, a new id and time in each. */
export function envelopeSource(layout: Layout, type: A2AMessageType): (n: number) => A2AEnvelope {
  const prefix = randomBytes(12).toString('base64url');
  const addresseeOf = addresseesOf(layout);
  return (n) => {
    const senderIndex = n % SENDERS.length;
    const sender = SENDERS[senderIndex];
    const { recipient, justification } = addresseeOf(senderIndex, Math.floor(n / SENDERS.length));
    const tier = sender?.tier ?? 0;
    return {
      id: `${prefix}-${n.toString(36)}`,
      schemaVersion: 1,
      sender: sender?.id ?? '',
      recipient,
      correlationId: `${prefix}-mission`,
      type,
      timestamp: Date.now(),
      payload: makeFinding(n),
      metadata:
        justification === undefined
          ? { tier, capability: 'bench.inspect' }
          : { tier, capability: 'bench.inspect', escalationJustification: justification },
    };
  };
}
