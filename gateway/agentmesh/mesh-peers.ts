import { z } from 'zod';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type {
  PeerAgreement,
  PeerExtension,
  PeerOffer,
  PeerTerms,
} from '../../runtime/protocol/peer-extension.ts';
import type { ReceivePolicy } from '../../runtime/protocol/receive-policy.ts';
import { sessionSequence } from '../../runtime/protocol/session-sequence.ts';
import { PayloadSchemas } from './payload-schemas.ts';
import { payloadSchemas, SchemaMode } from './schema-policy.ts';

const Names = z.array(z.string().min(1).max(256)).max(256).default([]);

/**
 * - `mode`      what is done with a payload that is not as its schema has it. @default 'warn'
 * - `directory` where registered schemas are kept; `false` keeps none. @default ~/.agentmesh/schemas
 * - `needs`     capabilities that this node hopes to find at others.
 * - `languages`, `paymentMethods` that it speaks and takes, the preferred ones first.
 */
export const MeshPeerOptions = z.strictObject({
  mode: SchemaMode.default('warn'),
  directory: z.union([z.string().min(1), z.literal(false)]).optional(),
  needs: Names,
  languages: Names,
  paymentMethods: Names,
});
export type MeshPeerOptions = z.input<typeof MeshPeerOptions>;

/** What a node offers in a negotiation. */
interface Offer {
  readonly capabilities: readonly string[];
  readonly schemas: readonly string[];
  readonly languages: readonly string[];
  readonly paymentMethods: readonly string[];
}

/** An answer to a negotiation. */
interface Answer {
  readonly matched: readonly string[];
  readonly unavailable: readonly string[];
  readonly agreed_schemas: readonly string[];
  readonly agreed_language?: string | undefined;
  readonly agreed_payment_method?: string | undefined;
}

/** How negotiations are read and answered. */
export interface Negotiating {
  readonly answer: (question: PeerTerms, offer: Offer, suggest: PeerOffer['suggest']) => PeerTerms;
  readonly read: (answer: PeerTerms) => Answer;
}

/** What AgentMesh adds to what two nodes do: numbers of its sessions, payloads by their schemas, the negotiation at the beginning. */
export class MeshPeers implements PeerExtension {
  readonly #options: z.output<typeof MeshPeerOptions>;
  readonly #negotiating: Negotiating;
  readonly #schemas: PayloadSchemas;

  /** Reads the schemas. Throws INVALID_OPTIONS, and STORE_FAILED. */
  constructor(options: MeshPeerOptions, negotiating: Negotiating, warn: (reason: string) => void) {
    this.#options = parseOptions(MeshPeerOptions, options, 'agentMesh');
    this.#negotiating = negotiating;
    const { directory } = this.#options;
    this.#schemas = new PayloadSchemas({
      ...(directory === undefined ? {} : { directory }),
      onEvent: ({ reason }) => warn(reason),
    });
  }

  rules(): readonly ReceivePolicy[] {
    return [sessionSequence(), payloadSchemas(this.#schemas, { mode: this.#options.mode })];
  }

  ask(capabilities: readonly string[]): PeerTerms {
    const { needs, languages, paymentMethods } = this.#options;
    return {
      i_need: needs,
      i_offer: capabilities,
      preferred_schemas: this.#schemas.ids(),
      languages,
      payment_methods: paymentMethods,
    };
  }

  answer(question: PeerTerms, { capabilities, suggest }: PeerOffer): PeerTerms {
    const { languages, paymentMethods } = this.#options;
    const offer = { capabilities, schemas: this.#schemas.ids(), languages, paymentMethods };
    return this.#negotiating.answer(question, offer, suggest);
  }

  /** Of what the other node says, nothing counts that was not asked. */
  agreed(answer: PeerTerms): PeerAgreement {
    const { needs, paymentMethods } = this.#options;
    const said = this.#negotiating.read(answer);
    const { agreed_language: language, agreed_payment_method: payment } = said;
    const schemas = this.#schemas.ids();
    const matched = needs.filter((id) => said.matched.includes(id));
    return {
      matched,
      unavailable: needs.filter((id) => !matched.includes(id)),
      schemas: said.agreed_schemas.filter((id) => schemas.includes(id)),
      ...(language !== undefined && this.#speaks(language) && { language }),
      ...(payment !== undefined && paymentMethods.includes(payment) && { paymentMethod: payment }),
    };
  }

  /** A language counts in another country's form, too. */
  #speaks(language: string): boolean {
    return this.#options.languages.some((own) => primaryOf(own) === primaryOf(language));
  }
}

const primaryOf = (tag: string): string => (tag.split('-')[0] ?? '').toLowerCase();
