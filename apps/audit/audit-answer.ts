import { AuditReport, EarlierResult } from '@orrery/ralph-loop';
import { z } from 'zod';

/**
 * What every planet is asked with.
 *
 * - `root`      the repository.
 * - `feedback`  what the gate said about the last answer, if it refused that.
 */
export const AuditRequest = z.strictObject({ root: z.string().min(1), feedback: z.string().optional() });
export type AuditRequest = z.infer<typeof AuditRequest>;

/**
 * What those planets are asked with that report on the mission itself.
 *
 * - `results`   what the other tasks came to.
 * - `baseline`  the path of an earlier report, as `--json` writes it.
 */
export const MissionRequest = AuditRequest.extend({
  results: z.array(EarlierResult).default([]),
  baseline: z.string().optional(),
});
export type MissionRequest = z.infer<typeof MissionRequest>;

/**
 * What a planet answers.
 *
 * - `nothing`  what there was not, when there was nothing to read for it.
 * - `summary`  what it came to, in a sentence or two.
 */
export const AuditAnswer = AuditReport.extend({
  nothing: z.string().optional(),
  summary: z.string().optional(),
});
export type AuditAnswer = z.infer<typeof AuditAnswer>;
