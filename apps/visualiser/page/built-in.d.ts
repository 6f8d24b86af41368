/** The system's own machines, drawn when the page was built: `build-page.ts`. */
declare const MACHINE_DRAWINGS: readonly import('orrery/machines').MachineDrawing[];

declare module '*.css';
