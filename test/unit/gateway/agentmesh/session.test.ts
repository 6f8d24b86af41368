import { describe, expect, it } from 'vitest';
import {
  type EnvelopeOf,
  envelopeOfMessage,
  matchCapabilities,
  messageOfEnvelope,
  type MeshMessage,
  type MeshType,
  PayloadSchemas,
  payloadSchemas,
  readMeshMessage,
  readNegotiation,
  readNegotiationResponse,
  receive,
  SessionNumbers,
  sessionSequence,
  writeMeshMessage,
} from '../../../../agentmesh.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const FLIGHTS = 'agentmesh/travel/flight-search';

/** One side of a session. What it sends is text, as on a wire. */
class Side {
  readonly #name: string;
  readonly #numbers = new SessionNumbers();
  readonly #rules = [sessionSequence(), payloadSchemas(new PayloadSchemas({ directory: false }))];

  constructor(name: string) {
    this.#name = name;
  }

  send(type: MeshType, payload: unknown): string {
    const sequence = this.#numbers.next('s1');
    const message: MeshMessage = { type, sessionId: 's1', sequence, timestamp: NOW_MS, payload };
    return JSON.stringify(writeMeshMessage(message, NOW_MS));
  }

  take(text: string) {
    const parties: EnvelopeOf = { id: 'e', sender: 'them', recipient: this.#name, tier: 3 };
    const envelope = envelopeOfMessage(readMeshMessage(JSON.parse(text), NOW_MS), parties);
    return { ...receive(this.#rules, { peer: 'them', envelope }), message: messageOfEnvelope(envelope) };
  }
}

const status = (progress: number) => ({
  status: 'working',
  progress,
  estimated_completion_seconds: 1,
  message: '',
});

describe('A session of AgentMesh', () => {
  it('begins with a negotiation, which is answered (M-08, M-09, M-10, C-12)', () => {
    const [asker, answerer] = [new Side('asker'), new Side('answerer')];
    const asked = answerer.take(
      asker.send('CAPABILITY_NEGOTIATION', {
        i_need: ['flights', 'hotels'],
        i_offer: [],
        preferred_schemas: [`${FLIGHTS}/v1`, `${FLIGHTS}/v2`],
        languages: ['de', 'en'],
        payment_methods: ['card'],
      }),
    );
    expect(asked).toMatchObject({
      isAccepted: true,
      findings: [],
      message: { type: 'CAPABILITY_NEGOTIATION' },
    });
    const offer = {
      capabilities: ['flights'],
      schemas: [`${FLIGHTS}/v1`, `${FLIGHTS}/v2`],
      languages: ['en'],
    };
    const elsewhere = { amid: 'X', display_name: 'Inn', reason: 'It has rooms' };
    const answer = matchCapabilities(readNegotiation(asked.message.payload), offer, () => elsewhere);
    const answered = asker.take(answerer.send('CAPABILITY_NEGOTIATION_RESPONSE', answer));
    expect(answered).toMatchObject({ isAccepted: true, findings: [] });
    expect(readNegotiationResponse(answered.message.payload)).toMatchObject({
      matched: ['flights'],
      unavailable: ['hotels'],
      suggested_alternative: { hotels: elsewhere },
      agreed_schema: `${FLIGHTS}/v2`,
      agreed_language: 'en',
    });
  });

  it('numbers what each side sends from 0 (M-01, M-02, C-04)', () => {
    const side = new Side('one');
    const sent = [0, 0.5, 1].map((progress) => JSON.parse(side.send('STATUS', status(progress))).sequence);
    expect(sent).toEqual([0, 1, 2]);
  });

  it('goes on after a loss with a warning, and takes nothing twice (M-03, M-04, C-05)', () => {
    const [sender, receiver] = [new Side('sender'), new Side('receiver')];
    const [first, lost, third] = [0, 0.5, 1].map((progress) => sender.send('STATUS', status(progress)));
    const taken = [first, third, third, lost, lost].map((text) => receiver.take(text as string));
    expect(taken.map(({ isAccepted }) => isAccepted)).toEqual([true, true, false, true, false]);
    expect(taken.map(({ findings }) => findings.map(({ action }) => action).join())).toEqual([
      '',
      'warn',
      'drop',
      'warn',
      'drop',
    ]);
    expect(taken[1]?.findings[0]?.reason).toContain('sequence gap detected');
  });

  it('takes a payload that is none, with a warning (M-17, C-13)', () => {
    const [sender, receiver] = [new Side('sender'), new Side('receiver')];
    const wire = JSON.parse(sender.send('STATUS', status(1)));
    const parties: EnvelopeOf = { id: 'e', sender: 'them', recipient: 'us', tier: 3 };
    const envelope = envelopeOfMessage(readMeshMessage({ ...wire, payload: 'half' }, NOW_MS), parties);
    const rules = [sessionSequence(), payloadSchemas(new PayloadSchemas({ directory: false }))];
    expect(receive(rules, { peer: 'them', envelope })).toMatchObject({
      isAccepted: true,
      findings: [{ action: 'warn', policy: 'payload-schemas' }],
    });
    expect(receiver.take(JSON.stringify(wire)).findings).toEqual([]);
  });
});
