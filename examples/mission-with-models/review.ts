import { capability } from 'orrery';
import { z } from 'zod';

/** What the loop asks with: the repository, and what the gate has said about an answer that it refused. */
const Review = z.object({ root: z.string(), feedback: z.string().optional() });

/** A finding as the scan gives it; the gate takes none that differs from that. */
const Finding = z.object({
  id: z.string(),
  rule: z.string(),
  severity: z.enum(['critical', 'high', 'medium', 'low', 'info']),
  file: z.string(),
  line: z.int(),
  column: z.int().optional(),
  message: z.string(),
  evidence: z.string(),
  lineSha256: z.string(),
  trail: z.array(z.string()).optional(),
  help: z.string().optional(),
  agent: z.string(),
});
const Note = z.object({ kind: z.string(), reason: z.string() });

export const triage = capability({
  id: 'review.triage',
  description: 'The findings of a scan that matter, each as the scan gives it',
  input: Review,
  output: z.object({ findings: z.array(Finding), notes: z.array(Note) }),
  readOnly: true,
});

export const summary = capability({
  id: 'review.summary',
  description: 'What a scan has found, in a note of two sentences',
  input: Review,
  output: z.object({ notes: z.array(Note).min(1) }),
  readOnly: true,
});

/** The model that both agents think with. */
export const model = {
  baseUrl: process.env['MODEL_URL'] ?? 'http://127.0.0.1:8080/v1',
  model: process.env['MODEL_NAME'] ?? 'little',
  ...(process.env['MODEL_KEY'] === undefined ? {} : { apiKeyEnv: 'MODEL_KEY' }),
};
