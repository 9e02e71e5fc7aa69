/**
 * A data directory: what a database keeps on disk. This package has its definitions (streams, tables, queries, views,
 * sinks, functions with their jars), roles, privileges and settings; {@code dev.millrace.server.journal} has the rows of tables.
 *
 * <p>Entry: {@link dev.millrace.server.storage.DataDirectory}. Used by one thread at a time, which the database sees to.
 *
 * <pre>
 *   DIR/lock          held by the process that uses it; its number is in it
 *   DIR/catalog.log   what was defined, in order
 *   DIR/catalog.end   how many of its records there are at least
 *   DIR/rows/         the log of rows (see {@code dev.millrace.storage.log})
 *   DIR/checkpoints/  what was there without it (see {@link dev.millrace.server.storage.CheckpointStore})
 *   DIR/jars/HASH.jar code of functions, by the SHA-256 of the jar
 *   DIR/decoys.key    what unknown roles' salts are made with (see {@code dev.millrace.server.role.ScramDecoys})
 *   DIR/secrets       what CREATE SECRET made (see {@link dev.millrace.server.storage.SecretsFile})
 *   DIR/server.crt    our own certificate, with server.key (see {@code dev.millrace.server.tls})
 *   DIR/server.address where the server that has it open listens (see {@link dev.millrace.server.storage.ServerAddress})
 *   DIR/backup.list   only in a backup, which is not opened (see {@code dev.millrace.server.backup})
 *   DIR/millrace.conf the server's configuration, if somebody put one there
 * </pre>
 *
 * <p><b>catalog.log.</b> The first line is {@code millrace-catalog 8 FIRST CHECKSUM}: the version of the format, the number of
 * the first record, and the CRC-32C of what comes before it in the line, in eight hexadecimal digits. Each other line is a
 * record: the CRC-32C of the rest; a space; its number, one more than that before it; a space; a JSON object; a line feed. A
 * record is written and forced to disk before its statement is answered, and takes effect whole. The members of a record, all
 * optional:
 *
 * <pre>
 *   changes      [{"define": name, "kind": .., "sql": .., "at": micros, "owner": .., "jar": hash, "rows": number, "since": record,
 *                 "basis": {question: number}, "numeric": "unlimited"}
 *                 | {"drop": name} | {"pause": name, "since": record} | {"resume": name}
 *                 | {"comment": name, "column": name, "constraint": name, "text": text}], one after the other
 *   roles        [statement]    all roles, settings of roles and memberships from now on; passwords as SCRAM verifiers
 *   owners       {object: role} all owners from now on that are not the superuser
 *   grants       [statement]    all privileges from now on
 *   settings     {name: value}  what SET and ALTER SYSTEM changed for everybody, all of it
 *   logs         {directory: {"identity": hex, "last": record}}   all logs from now on ({@link dev.millrace.server.storage.KnownLog}): written
 *                when a database is opened and closed, when a durable subscription is the first or the last of a view, and with what is dropped;
 *                beside logs the file {@code secrets}, of which "last" is how often it was written
 *   with         number         the record counts only if an entry of the log of rows has a part of this number
 * </pre>
 *
 * {@code rows} is the number of the object ({@link dev.millrace.server.storage.KeptObject}); {@code since} says where in the log of rows
 * the change took effect: behind the record of this number; {@code basis} is what the planner was told of rows. All are missing where a version before checkpoints wrote them.
 * {@code numeric} says what NUMERIC without digits means in the statement ({@link dev.millrace.type.PlainNumeric}); it is missing where that is
 * numeric(38,16), as in all statements of versions before 5. Names are those of the catalog ({@link dev.millrace.sql.catalog.RelationNames}), also in statements:
 * one without a schema is of what is in {@code public}, and a schema is an object of the kind {@code schema} whose name ends with a point. Versions before 6 had no
 * schemas, and a point in a name was part of it.
 *
 * <p>A {@code comment} is on the object of its name, or on a schema that is always there, or, without a name, on the database; on a column or constraint of it where one is
 * named: the constraint of an empty name is the primary key ({@link dev.millrace.sql.statement.Commented}). Without a text it is gone, as it is with what is dropped.
 * Versions before 7 had none.
 *
 * <p>A foreign key is an element of its table's statement that begins with CONSTRAINT, its name and FOREIGN KEY, with all columns and the
 * referenced table by its name in the catalog; the other table may be defined behind it. Versions before 8 had none.
 *
 * <p>A transaction that changed definitions and rows is a record {@code with} a number and, behind it in time, an entry of the log of rows, which
 * has a part of that number without rows ({@code dev.millrace.engine.relation.Beside}): with the entry on disk it is committed. No other record
 * is written before that is known. So when a database is opened only the last record may be in doubt: it does not count, and is cut off, if the
 * log of rows has no such entry and no checkpoint is of this record.
 *
 * <p>A last line without a line feed, or one behind the record that {@code catalog.end} has whose checksum does not hold and behind which no
 * whole one is, was being written when the process or the machine ended and was not answered: it is cut off, which is
 * logged. Any other line whose checksum does not hold, or whose number is not the next one, is damage, which is reported and
 * never passed over. When most of the log is of the past, opening it writes a new one, which takes the place of the old in one
 * step; its last record has the number that the last one had. Files of version 1, whose lines have no numbers, of
 * version 2, beside which there were no checkpoints, of version 3, which said nothing of logs, of version 4, which knew no numbers of any
 * size, of version 5, which knew no schemas, of version 6, which knew no comments, and of version 7, which knew no foreign keys, are read and written anew.
 *
 * <p><b>catalog.end</b> is a line like a record's, with a number and nothing behind it: that of the last record whose statement
 * was answered. A log that ends before it has lost something. It is written after the record and not forced to disk, so it may
 * be behind.
 */
package dev.millrace.server.storage;
