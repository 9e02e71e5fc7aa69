package dev.millrace.sql.bind.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.match.MatchSpec.Symbol;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.calcite.sql.SqlIdentifier;

/** The names that rows of a match go by: pattern variables, SUBSETs of them, and without a name all of them. */
final class MatchSymbols {
    private static final String UNIVERSAL = "";

    private final List<Symbol> symbols = new ArrayList<>();
    private final int variables;

    MatchSymbols(List<String> variables) {
        this.variables = variables.size();
        for (String variable : variables) {
            symbols.add(new Symbol(variable, List.of(symbols.size())));
        }
        symbols.add(
                new Symbol(UNIVERSAL, IntStream.range(0, this.variables).boxed().toList()));
    }

    /** Adds a union; before anything is looked up. */
    void addSubset(SqlIdentifier name, List<SqlIdentifier> members) {
        if (find(name.getSimple()) >= 0) {
            throw Errors.error(
                    SqlState.DUPLICATE_OBJECT, "\"" + name.getSimple() + "\" is a pattern variable already", name);
        }
        List<Integer> places = new ArrayList<>();
        for (SqlIdentifier member : members) {
            int place = find(member.getSimple());
            if (place < 0 || place >= variables) {
                throw unknown(member.getSimple(), member);
            }
            places.add(place);
        }
        symbols.add(symbols.size() - 1, new Symbol(name.getSimple(), places));
    }

    List<Symbol> all() {
        return List.copyOf(symbols);
    }

    /** All rows of the match. */
    int universal() {
        return symbols.size() - 1;
    }

    String name(int symbol) {
        return symbols.get(symbol).name();
    }

    /** What a column is of: its qualifier, or all. */
    int of(SqlIdentifier column) {
        return column.names.size() == 1 ? universal() : qualifier(column);
    }

    /** The symbol that qualifies a name; 42P01. */
    int qualifier(SqlIdentifier name) {
        return lookUp(name.names.get(name.names.size() - 2), name);
    }

    /** The symbol of a name; 42P01. */
    int named(SqlIdentifier name) {
        return lookUp(name.getSimple(), name);
    }

    /** The place of a variable, which DEFINE may name; 42P01. */
    int variable(SqlIdentifier name) {
        int place = find(name.getSimple());
        if (place < 0 || place >= variables) {
            throw unknown(name.getSimple(), name);
        }
        return place;
    }

    private int lookUp(String name, SqlIdentifier where) {
        int place = find(name);
        if (place < 0) {
            throw unknown(name, where);
        }
        return place;
    }

    private int find(String name) {
        for (int i = 0; i + 1 < symbols.size(); i++) {
            if (symbols.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private MillraceException unknown(String name, SqlIdentifier where) {
        return Errors.suggest(
                Errors.error(SqlState.UNDEFINED_TABLE, "pattern variable \"" + name + "\" does not exist", where),
                name,
                symbols.stream()
                        .map(Symbol::name)
                        .filter(known -> !known.isEmpty())
                        .toList());
    }
}
