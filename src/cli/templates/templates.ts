/**
 * `pgreflect templates`: work on email templates from the command line.
 *
 * `check` and `render` need neither server nor database; `pull`, `push` and `diff` call the management API of a running project
 * (templates-sync.ts).
 */
import { type Command, type CommandContext, CommandError, failCommand } from '../shared/command.ts';
import { checkFiles } from './check-files.ts';
import { renderBatch } from './render-batch.ts';
import { defaultTemplateDirectory, diffTemplates, pullTemplates, pushTemplates } from './templates-sync.ts';

const actions = ['pull', 'push', 'diff', 'check', 'render'] as const;

/** The command `pgreflect templates`. */
export const templates: Command = {
  flags: [
    {
      flag: 'dir',
      placeholder: 'DIRECTORY',
      doc: `pull, push, diff, check: directory of the files (default: ${defaultTemplateDirectory}).`,
    },
    { flag: 'allow-warnings', doc: 'push, check: allow emails without a working link or code.' },
    { flag: 'translations', doc: 'pull: write the built-in translations of edited emails, too.' },
    { flag: 'dry-run', doc: 'push: check and print the changes without storing them.' },
    { flag: 'strict', doc: 'check: exit with 1 for warnings, too.' },
    { flag: 'batch', doc: 'render: read requests from standard input, one JSON object per line.' },
  ],
  notes: `pull writes subjects.json and a file NAME.html for the body of each email. push stores what you
edited since, and refuses what others edited, too. diff prints differences and exits with 1 if there are any. A local project running in the working directory needs no options; others
need --external-url, --project-ref and --access-token.

check needs no server. It prints FILE:LINE:COLUMN and what is wrong, and exits with 1 if there are errors. A comment switches a
check off for its file: {{/* check: ignore NAME */}}

An email with a text of its own no longer has built-in translations: push says so, and pull --translations
writes them as files. Whole pages get no layout: push layout.html first, then pull, and the built-in texts come
without their page.

To see an email, open Emails in the studio, or render it with data of yours. render --batch answers each line
{"id", "kind": "html"|"text", "template", "data"}, with "layout" and "partials" if it needs them, with {"id", "output"} or
{"id", "error": "parse"|"escape"|"exec", "message", "line"}. An invalid line gets the error "input", and the exit code is 2.

Examples:
  pgreflect templates pull && pgreflect templates push
  pgreflect templates check templates --strict
  pgreflect templates diff --external-url https://db.example.net --project-ref REF   (token in PGREFLECT_ACCESS_TOKEN)
  pgreflect templates render --batch < requests.ndjson > answers.ndjson`,
  run: runTemplates,
};

async function runTemplates(context: CommandContext): Promise<number> {
  const { problems } = context.sources;
  if (problems.length > 0) throw new CommandError(problems);
  if (context.operands[1] !== undefined && context.operands[0] !== 'check')
    failCommand('Only check takes a directory as its operand.', 'Write --dir DIRECTORY.');
  switch (actions.find((word) => word === context.operands[0])) {
    case 'pull':
      return pullTemplates(context);
    case 'push':
      return pushTemplates(context);
    case 'diff':
      return diffTemplates(context);
    case 'check':
      return checkFiles(context, defaultTemplateDirectory);
    case 'render':
      return runRender(context);
    default:
      return failCommand(
        `pgreflect templates needs one of: ${actions.join(', ')}.`,
        'Example: pgreflect templates render --batch < requests.ndjson',
      );
  }
}

/** Exit code 0 for any results, 2 if a line was not a request. */
async function runRender(context: CommandContext): Promise<number> {
  if (context.flags.batch !== true)
    failCommand(
      'pgreflect templates render needs --batch.',
      'Example: pgreflect templates render --batch < requests.ndjson',
    );
  const sound = await renderBatch(process.stdin, (answer) => context.print(JSON.stringify(answer)));
  return sound ? 0 : 2;
}
