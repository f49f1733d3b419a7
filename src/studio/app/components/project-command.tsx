/** A command of pgreflect for this project, which works where it is pasted, and where that is. */
import { useShell } from '../shared/shell.ts';
import { CommandLine } from './command-line.tsx';

/** @param props.text With the plain name of the program. */
export function ProjectCommand({ text }: { readonly text: `pgreflect ${string}` }) {
  const shell = useShell();
  if (shell === null) return null;
  const { isLocal, shellCall } = shell;
  return (
    <div className="project-command">
      <CommandLine text={text.replace('pgreflect', () => shellCall ?? 'pgreflect')} />
      <p className="soft small">
        {!isLocal && <>Run it where the gateway runs, with the gateway's environment variables.</>}
        {isLocal &&
          (shellCall === null ? (
            <>Run it in the project's folder.</>
          ) : (
            <>Paste it into a terminal on the machine that runs the project.</>
          ))}
      </p>
    </div>
  );
}
