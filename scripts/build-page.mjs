// Builds the page of `nightshift view`: web to dist/web.
import { build } from 'vite';

/** The names stay the same in every version: the server has the browser ask whether a file has changed. */
const names = (script) => ({
  entryFileNames: `${script}.js`,
  assetFileNames: 'page[extname]',
});

/** A busy machine is no mistake of the build. */
const QUIET = { bundlerTimings: false };

export async function buildPage() {
  await build({
    root: 'web',
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: '../dist/web',
      emptyOutDir: true,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: { output: names('page'), checks: QUIET },
    },
    worker: { format: 'es', rolldownOptions: { output: names('stream'), checks: QUIET } },
  });
}
