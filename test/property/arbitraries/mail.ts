import { idText } from '../../../runtime/protocol/system-seams.ts';
import fc from 'fast-check';
import { askName, LAST_GENERATION, Mail, type MailExtras, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { A2A_MESSAGE_TYPES, type PathHop } from '../../../runtime/protocol/envelope.ts';
import type { ErrorData } from '../../../runtime/protocol/errors.ts';
import { arbJson, arbText } from './json.ts';

/** Few enough that ids, correlation ids and names of agents meet. */
const TEXTS = ['a', 'b', 'c', '', '0', '17', '__proto__', 'o-1', 'o-2', 'o-3', 'p-1'];
const AGENTS = ['planner', 'critic', 'a', '*', 'constructor'];
const ORIGINS = ['o', 'p', ''];

/** Objects that many mails have in common: links know them by their identity. */
const PATHS: readonly (readonly PathHop[])[] = [0, 1, 2, 3].map((depth) =>
  Array.from({ length: depth }, (_, at) => ({ agent: `a${at}`, capability: 'c', envelopeId: `o-${depth}` })),
);
const EXTRAS: readonly MailExtras[] = [
  { justification: 'urgent' },
  { routingHint: 'capability', derived: true },
  { structured: true },
  { structured: true, stream: true },
];
const SHARED_EXTRAS = EXTRAS.map((extras) => Object.freeze({ ...extras }));
const TOMBSTONE = { code: 'ACTOR_DIED', message: 'gone' } as ErrorData;

/** What a mail is made of; where objects are shared, a number says which one. */
interface MailSpec {
  readonly key: string | number;
  readonly origin: string;
  readonly isIdRead: boolean;
  readonly type: number;
  readonly sender: string;
  readonly recipient: string;
  readonly correlation: { readonly isOwn: boolean; readonly text: string | undefined };
  readonly path: { readonly which: number; readonly isShared: boolean } | undefined;
  readonly timestamp: number;
  readonly deadline: number | 'none' | 'as sent';
  readonly capability: string | undefined;
  readonly ask: number;
  readonly extras: { readonly which: number; readonly isShared: boolean } | MailExtras | undefined;
  readonly attempts: number;
  readonly isTombstone: boolean;
  readonly payload: unknown;
  readonly structured: unknown;
}

/** An ask of any slot and generation. */
export const arbAsk = (): fc.Arbitrary<number> =>
  fc
    .tuple(
      fc.oneof(fc.nat(40), fc.integer({ min: 0, max: 2 ** 20 - 1 })),
      fc.oneof(fc.nat(3), fc.integer({ min: 0, max: LAST_GENERATION }), fc.constant(LAST_GENERATION)),
    )
    .map(([slot, generation]) => askName(slot, generation));

/** What only a structured clone carries. */
export const arbStructured = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    arbJson(),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.constantFrom<unknown>(undefined, Number.NaN, -0, [undefined, 1], { gone: undefined }),
    fc.array(fc.tuple(arbText(), fc.bigInt()), { maxLength: 2 }).map((entries) => new Map(entries)),
  );

const arbTimeMs = (): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: 1_800_000_000_000, max: 1_800_000_000_003 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.double({ min: 1e-9, max: 1e15, noNaN: true }),
    fc.double({ min: 1_800_000_000_000, max: 1_800_000_000_001, noNaN: true }),
  );

const arbShared = (count: number) =>
  fc.record({
    which: fc.nat(count - 1),
    isShared: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, fc.boolean()),
  });

const arbOwnExtras = () =>
  fc.record(
    {
      inReplyTo: arbText(),
      delivery: fc.constantFrom('once' as const, 'retry' as const),
      session: fc.record({ id: arbText(), sequence: fc.nat() }, { noNullPrototype: true }),
      unknown: fc.dictionary(arbText(), arbJson(), { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    },
    { requiredKeys: ['inReplyTo'], noNullPrototype: true },
  );

const rarely = <Value>(usual: Value, other: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, { arbitrary: other, weight: 1 });

const FIELDS: { readonly [Field in keyof MailSpec]: fc.Arbitrary<MailSpec[Field]> } = {
  key: fc.oneof(
    { arbitrary: fc.nat(5), weight: 4 },
    fc.constantFrom(...TEXTS),
    fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  ),
  origin: rarely('o', fc.constantFrom(...ORIGINS)),
  isIdRead: fc.boolean(),
  type: rarely(2, fc.nat(A2A_MESSAGE_TYPES.length - 1)),
  sender: rarely('planner', fc.oneof(fc.constantFrom(...AGENTS), arbText())),
  recipient: rarely('critic', fc.oneof(fc.constantFrom(...AGENTS), arbText())),
  correlation: fc.record({
    isOwn: rarely(false, fc.constant(true)),
    text: fc.oneof(fc.constantFrom(undefined, ...TEXTS), fc.constant('a')),
  }),
  path: fc.option(arbShared(PATHS.length), { nil: undefined }),
  timestamp: rarely(1_800_000_000_000, arbTimeMs()),
  deadline: fc.oneof(fc.constantFrom('none' as const, 'as sent' as const), arbTimeMs()),
  capability: fc.constantFrom(undefined, 'c', ''),
  ask: rarely(NO_ASK, arbAsk()),
  extras: rarely<MailSpec['extras']>(undefined, fc.oneof(arbShared(EXTRAS.length), arbOwnExtras())),
  attempts: rarely(0, fc.nat(3)),
  isTombstone: rarely(false, fc.boolean()),
  payload: fc.oneof(arbJson(), fc.constantFrom(undefined, null)),
  structured: arbStructured(),
};

const arbOneField: fc.Arbitrary<Partial<MailSpec>> = fc.oneof(
  ...Object.entries(FIELDS).map(([field, arbitrary]) =>
    (arbitrary as fc.Arbitrary<unknown>).map((value) => ({ [field]: value })),
  ),
);

/** Mails of which neighbours often have everything but the key in common, or but the key and one thing more. */
export const arbMailSpecs = (maxLength: number): fc.Arbitrary<MailSpec[]> => {
  // An id that is the first one's correlation id comes seldom by chance.
  const arbNext = fc.tuple(
    fc.option(FIELDS.key, { nil: undefined, freq: 3 }),
    fc.oneof(fc.constant({}), arbOneField),
  );
  return fc
    .array(fc.tuple(fc.record(FIELDS), fc.array(arbNext, { maxLength: 3 })), { maxLength })
    .map((runs) =>
      runs.flatMap(([first, next]) => [
        first,
        ...next.map(
          ([key, other]) =>
            ({ ...first, key: key ?? first.correlation.text ?? first.key, ...other }) as MailSpec,
        ),
      ]),
    );
};

export function mailOf(spec: MailSpec): Mail {
  const extras = extrasOf(spec.extras);
  const { correlation, path, deadline, timestamp } = spec;
  const mail = new Mail(
    spec.key,
    spec.origin,
    spec.type,
    spec.sender,
    spec.recipient,
    correlation.text,
    timestamp,
    extras?.structured === true ? spec.structured : spec.payload,
    spec.capability,
    deadline === 'none' ? 0 : deadline === 'as sent' ? timestamp : deadline,
    spec.ask,
    path === undefined ? undefined : path.isShared ? PATHS[path.which] : [...(PATHS[path.which] ?? [])],
    extras,
  );
  mail.attempts = spec.attempts;
  if (spec.isTombstone) mail.tombstone = TOMBSTONE;
  if (correlation.isOwn) mail.correlationId = spec.isIdRead ? mail.id : idOf(spec);
  return mail;
}

/** A mail's id, as somebody says it who has not asked the mail. */
const idOf = ({ key, origin }: MailSpec): string => (typeof key === 'string' ? key : idText(origin, key));

function extrasOf(extras: MailSpec['extras']): MailExtras | undefined {
  if (extras === undefined || !('which' in extras)) return extras as MailExtras | undefined;
  return extras.isShared ? SHARED_EXTRAS[extras.which] : { ...EXTRAS[extras.which] };
}

/** All that a mail says, for comparing it with what arrived. */
export const plain = (mail: Mail) => ({
  id: mail.id,
  type: mail.type,
  sender: mail.sender,
  recipient: mail.recipient,
  correlationId: mail.correlationId,
  timestamp: mail.timestamp,
  payload: mail.payload,
  capability: mail.capability,
  deadlineAtMs: mail.deadlineAtMs,
  ask: mail.ask,
  path: mail.path,
  extras: mail.extras,
  attempts: mail.attempts,
  tombstone: mail.tombstone,
});
