/**
 * Texts that must not be seen: what {@code CREATE SECRET} keeps, and references in options that stand for such texts, for variables of the
 * environment and for files.
 *
 * <p>Entry: {@link dev.millrace.server.secret.Secrets} and {@link dev.millrace.server.secret.SecretReferences}. Options, definitions, SHOW CREATE and
 * dumps have references and never what they stand for; connectors resolve them when they make a client. What is kept is the file {@code secrets}
 * of the data directory ({@link dev.millrace.server.storage.SecretsFile}).
 */
package dev.millrace.server.secret;
