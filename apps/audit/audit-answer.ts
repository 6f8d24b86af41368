import { AuditReport, EarlierResult } from '@orrery/ralph-loop';
import { z } from 'zod';

/**
 * The input of every planet.
 *
 * - `root`      path of the repository.
 * - `feedback`  why the gate refused the last answer, if it did.
 */
export const AuditRequest = z.strictObject({ root: z.string().min(1), feedback: z.string().optional() });
export type AuditRequest = z.infer<typeof AuditRequest>;

/**
 * The input of planets that report on the mission itself.
 *
 * - `results`   results of the other tasks. @default none
 * - `baseline`  path of an earlier report, as `--json` writes it.
 */
export const MissionRequest = AuditRequest.extend({
  results: z.array(EarlierResult).default([]),
  baseline: z.string().optional(),
});
export type MissionRequest = z.infer<typeof MissionRequest>;

/**
 * The answer of a planet.
 *
 * - `nothing`  what the repository lacks, if there was nothing to read.
 * - `summary`  a sentence or two about the result.
 */
export const AuditAnswer = AuditReport.extend({
  nothing: z.string().optional(),
  summary: z.string().optional(),
});
export type AuditAnswer = z.infer<typeof AuditAnswer>;
