package dev.millrace.server.tls;

/** Whether connections are encrypted. */
public enum TlsMode {
    /** Never: a client that asks is told so. */
    OFF,
    /** If the client asks. */
    ALLOW,
    /** Always: who does not ask is refused (28000). */
    REQUIRE
}
