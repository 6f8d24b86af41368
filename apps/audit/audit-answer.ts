import { AuditReport } from '@orrery/ralph-loop';
import { z } from 'zod';

/**
 * What every planet is asked with.
 *
 * - `root`      the repository.
 * - `feedback`  what the gate said about the last answer, if it refused that.
 */
export const AuditRequest = z.strictObject({ root: z.string().min(1), feedback: z.string().optional() });
export type AuditRequest = z.infer<typeof AuditRequest>;

/** What a planet answers; `nothing` says what there was not, when there was nothing to read for it. */
export const AuditAnswer = AuditReport.extend({ nothing: z.string().optional() });
export type AuditAnswer = z.infer<typeof AuditAnswer>;
