/** Members of a driver connection that its types lack: the protocol level for its cursor and stream packages. */

/** The socket, or the TLS stream over it. */
export interface DriverStream {
  readonly writable: boolean;
  write(messages: Uint8Array): void;
  destroy(problem?: Error): void;
  pause(): void;
  resume(): void;
  listeners(event: 'data'): readonly ((bytes: Buffer) => void)[];
  on(event: 'data', listener: (bytes: Buffer) => void): void;
  off(event: 'data', listener: (bytes: Buffer) => void): void;
}

/** One connection at protocol level. Every method queues bytes; nothing waits for an answer. */
export interface DriverConnection {
  readonly stream: DriverStream;
  sync(): void;
  sendCopyFail(reason: string): void;
  once(event: 'readyForQuery' | 'end', listener: () => void): void;
  /** ParameterStatus: a setting of the connection changed since the last flight. */
  on(
    event: 'parameterStatus',
    listener: (status: { readonly parameterName: string; readonly parameterValue: string }) => void,
  ): void;
  off(event: 'readyForQuery' | 'end', listener: () => void): void;
}
