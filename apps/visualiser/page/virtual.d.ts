declare module 'virtual:machine-drawings' {
  import type { MachineDrawing } from 'orrery/machines';
  /** The system's own machines, drawn when the page was built. */
  export const MACHINE_DRAWINGS: readonly MachineDrawing[];
}
declare module '*.css';
