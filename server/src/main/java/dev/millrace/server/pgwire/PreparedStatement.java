package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.result.Description;
import dev.millrace.server.session.Session;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A statement that a client prepared: parsed and analysed, and once more after the catalog changed. Belongs to the session's thread. */
final class PreparedStatement {
    private final Session session;
    private final Optional<ParsedStatement> statement;
    private final List<Integer> parameterOids;
    private final List<DataType> declaredTypes;
    private Optional<Description> description = Optional.empty();
    private long describedVersion;

    private PreparedStatement(Session session, Optional<ParsedStatement> statement, List<Integer> parameterOids) {
        this.session = session;
        this.statement = statement;
        this.parameterOids = parameterOids;
        this.declaredTypes = parameterOids.stream().map(PgType::declared).toList();
    }

    /** @param parameterOids as the client declares them; 0 and missing ones are inferred */
    static PreparedStatement parse(Session session, String sql, List<Integer> parameterOids) {
        List<ParsedStatement> statements = session.parse(sql);
        if (statements.size() > 1) {
            throw MillraceException.user(
                    SqlState.SYNTAX_ERROR, "cannot insert multiple commands into a prepared statement");
        }
        PreparedStatement prepared =
                new PreparedStatement(session, statements.stream().findFirst(), parameterOids);
        prepared.analyze();
        return prepared;
    }

    /** One that was prepared by SQL. */
    static PreparedStatement of(Session session, ParsedStatement statement, List<DataType> types) {
        List<Integer> oids = types.stream()
                .map(type -> type.kind() == DataType.Kind.NULL ? 0 : PgType.oidOf(type))
                .toList();
        return new PreparedStatement(session, Optional.of(statement), oids);
    }

    /** Empty for a text without a statement. */
    Optional<ParsedStatement> statement() {
        return statement;
    }

    int parameterCount() {
        return statement.map(ParsedStatement::parameterCount).orElse(0);
    }

    List<DataType> declaredTypes() {
        return declaredTypes;
    }

    /** The types of the parameters, declared or inferred. */
    List<DataType> parameterTypes() {
        return description().parameters();
    }

    /** The ids of the parameters' types, as the client declared them or as they were inferred. */
    List<Integer> parameterOids() {
        List<DataType> types = parameterTypes();
        return IntStream.range(0, types.size())
                .map(i -> i < parameterOids.size() && parameterOids.get(i) != 0
                        ? parameterOids.get(i)
                        : PgType.oidOf(types.get(i)))
                .boxed()
                .toList();
    }

    /** What the bytes of a parameter hold that is sent in binary; {@code index} from 0. */
    DataType encodedType(int index) {
        DataType encoded = index < parameterOids.size() ? PgType.encoded(parameterOids.get(index)) : DataType.NULL;
        return encoded.kind() == DataType.Kind.NULL ? parameterTypes().get(index) : encoded;
    }

    /** The columns of its rows; none for a statement without rows. */
    Optional<Schema> columns() {
        return description().columns();
    }

    /** What is wrong with a statement is told before it is there; what was found is kept for who asks. */
    private void analyze() {
        long version = session.namesVersion();
        description = statement.flatMap(parsed -> session.prepared().analyze(parsed, declaredTypes));
        describedVersion = version;
    }

    /** Whether what it takes and gives is known, as the catalog is now. */
    boolean isDescribed() {
        return description.isPresent() && describedVersion == session.namesVersion();
    }

    private Description description() {
        long version = session.namesVersion();
        if (!isDescribed()) {
            description = Optional.of(statement
                    .map(parsed -> session.prepared().describe(parsed, declaredTypes))
                    .orElse(new Description(List.of(), Optional.empty())));
            describedVersion = version;
        }
        return description.get();
    }
}
