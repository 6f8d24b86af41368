/** What of express is used: it has no types of its own. */
declare module 'express' {
  import type { Server } from 'node:http';

  interface Express {
    use(path: string, handler: unknown): void;
    listen(port: number, host: string, listening: () => void): Server;
  }
  function express(): Express;
  export { express as default };
}
