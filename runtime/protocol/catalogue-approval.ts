import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentCard } from './agent-card.ts';
import { canonical } from './approval.ts';
import type { Taint } from './taint.ts';

/**
 * Whether the owner of a system has approved what somebody elsewhere offers.
 *
 * - `approved` the hash of the catalogue that the owner has read. A catalogue with another hash is foreign text.
 */
export const CatalogueOptions = z.strictObject({
  approved: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, '"sha256:" and 64 hexadecimal digits')
    .optional(),
});
export type CatalogueOptions = z.output<typeof CatalogueOptions>;

/** The parts of a card that can hold somebody else's text. */
export type CatalogueText = Pick<AgentCard, 'capabilities' | 'resources' | 'resourceTemplates' | 'prompts'> &
  Partial<Pick<AgentCard, 'name' | 'description'>>;

/**
 * The hash of a catalogue: names, descriptions, schemas and annotations, whatever their order. Revision, version and time are left
 * out.
 */
export function catalogueHash({ name, description, ...lists }: CatalogueText): string {
  const { capabilities, resources = [], resourceTemplates = [], prompts = [] } = lists;
  const sorted = [capabilities, resources, resourceTemplates, prompts].map((list) =>
    list.map((item) => canonical(item)).sort(),
  );
  const text = canonical([name ?? null, description ?? null, sorted]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** A sentence that a catalogue is not approved, and how to approve it; undefined if it is approved. */
export function unapproved(whose: string, hash: string, approved: string | undefined): string | undefined {
  if (hash === approved) return undefined;
  const found =
    approved === undefined
      ? `What ${whose} offers is not approved`
      : `What ${whose} offers is not what was approved as ${approved}`;
  return `${found}: who reads it reads foreign text. Once read, it is approved by catalogue: { approved: '${hash}' }`;
}

/** The event that an agent's catalogue is foreign text, with how to approve it. */
export const catalogueEvent = (agentId: string, { reason, taint }: { reason: string; taint: Taint }) =>
  ({ type: 'catalogue', agentId, reason, taint, security: true }) as const;
