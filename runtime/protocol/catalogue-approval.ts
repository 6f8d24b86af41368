import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentCard } from './agent-card.ts';
import { canonical } from './approval.ts';
import type { Taint } from './taint.ts';

/**
 * What the owner of a system says of what somebody elsewhere offers.
 *
 * - `approved` the catalogue that the owner has read: names, descriptions and schemas that have another hash are foreign text.
 */
export const CatalogueOptions = z.strictObject({
  approved: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, '"sha256:" and 64 hexadecimal digits')
    .optional(),
});
export type CatalogueOptions = z.output<typeof CatalogueOptions>;

/** What of a card its readers read: all in which a text of somebody else can stand. */
export type CatalogueText = Pick<AgentCard, 'capabilities' | 'resources' | 'resourceTemplates' | 'prompts'> &
  Partial<Pick<AgentCard, 'name' | 'description'>>;

/**
 * The hash of what an agent elsewhere says that it offers: names, descriptions, schemas and what it says that they do, in
 * whatever order. Neither revision nor version nor time is in it.
 */
export function catalogueHash({ name, description, ...lists }: CatalogueText): string {
  const { capabilities, resources = [], resourceTemplates = [], prompts = [] } = lists;
  const sorted = [capabilities, resources, resourceTemplates, prompts].map((list) =>
    list.map((item) => canonical(item)).sort(),
  );
  const text = canonical([name ?? null, description ?? null, sorted]);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** What is to be told of a catalogue that is foreign text; undefined of one that is approved. */
export function unapproved(whose: string, hash: string, approved: string | undefined): string | undefined {
  if (hash === approved) return undefined;
  const found =
    approved === undefined
      ? `What ${whose} offers is not approved`
      : `What ${whose} offers is not what was approved as ${approved}`;
  return `${found}: who reads it reads foreign text. Once read, it is approved by catalogue: { approved: '${hash}' }`;
}

/** The event that tells the system that what an agent offers is foreign text, and how its owner approves it. */
export const catalogueEvent = (agentId: string, { reason, taint }: { reason: string; taint: Taint }) =>
  ({ type: 'catalogue', agentId, reason, taint, security: true }) as const;
