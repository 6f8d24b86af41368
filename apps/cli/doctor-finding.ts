/**
 * One thing that was checked.
 *
 * - `state`  `missing` for something optional; `fault` for what must be mended before anything starts.
 */
export interface DoctorFinding {
  readonly area: 'machine' | 'packages' | 'folder' | 'coding agents' | 'mission' | 'agents' | 'catalogues';
  readonly what: string;
  readonly state: 'ok' | 'missing' | 'fault';
  readonly text: string;
}
