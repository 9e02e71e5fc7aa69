package dev.millrace.sql.statement;

import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.Secret;

/** Statements about secrets, which options refer to as {@code ${secret:name}}. */
public sealed interface SecretStatement extends Statement.TableStatement {
    /** CREATE SECRET .. AS. */
    record CreateSecret(String name, IfExists ifExists, Secret secret) implements SecretStatement {}

    /** ALTER SECRET .. AS: another text. */
    record AlterSecret(String name, Secret secret) implements SecretStatement {}

    /** DROP SECRET. */
    record DropSecret(String name, boolean ifExists) implements SecretStatement {}
}
