package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;

/** The parameters of one statement: their values, or the types they turn out to have. */
public final class ParameterTypes {
    private final Parameters parameters;
    private final List<DataType> types;
    private final Optional<SessionTimes> times;
    private int viewsAround;

    public ParameterTypes(Parameters parameters, int count) {
        this.parameters = parameters;
        this.times = SessionTimes.of(parameters);
        this.types = new ArrayList<>(Collections.nCopies(count, DataType.NULL));
        for (int i = 0; i < Math.min(count, parameters.declaredTypes().size()); i++) {
            types.set(i, parameters.declaredTypes().get(i));
        }
    }

    public int count() {
        return types.size();
    }

    /** What is known of the type of parameter {@code number}, from 1. */
    public DataType type(int number) {
        return types.get(number - 1);
    }

    /** The text of parameter {@code number}, or NULL for an empty one; empty when it has no value yet. */
    public Optional<Optional<String>> value(int number) {
        return parameters.values().filter(values -> number <= values.size()).map(values -> values.get(number - 1));
    }

    /** Parameter {@code number} from 1: a constant when values are given, else a parameter of perhaps unknown type. */
    public RexNode reference(int number, SqlNode where) {
        DataType type = types.get(number - 1);
        Optional<List<Optional<String>>> values = parameters.values();
        if (values.isEmpty()) {
            return type.kind() == Kind.NULL
                    ? Rex.builder().makeDynamicParam(TypeMapper.unknownType(), number - 1)
                    : Rex.builder().makeDynamicParam(TypeMapper.relType(type, true), number - 1);
        }
        if (number > values.get().size()) {
            throw Errors.error(SqlState.UNDEFINED_PARAMETER, "there is no parameter $" + number, where);
        }
        Optional<String> value = values.get().get(number - 1);
        if (value.isEmpty()) {
            return Rex.nullOf(type);
        }
        if (type.kind() == Kind.NULL) {
            return Rex.unknown(value.get());
        }
        try {
            return Rex.literal(
                    type.isExact()
                            ? Literals.number(value.get())
                            : Literals.parse(type, value.get(), parameters.style()));
        } catch (MillraceException e) {
            throw Errors.at(e, where);
        }
    }

    /** How the statement converts dates and times; empty where that is plain. */
    Optional<SessionTimes> times() {
        return times;
    }

    /** Of dates and times in the statement and in the values; constants of views are read month first, whoever reads them. */
    public TimeStyle style() {
        return viewsAround == 0 ? parameters.style() : parameters.style().monthsFirst();
    }

    /** What is bound from now on is the text of a view. */
    public void enterView() {
        viewsAround++;
    }

    public void leaveView() {
        viewsAround--;
    }

    /** Gives an open parameter its type; one that has another type by now keeps that. */
    RexNode decide(RexDynamicParam parameter, DataType type) {
        DataType known = types.get(parameter.getIndex());
        if (known.kind() == Kind.NULL) {
            types.set(parameter.getIndex(), type);
            known = type;
        }
        return Rex.builder().makeDynamicParam(TypeMapper.relType(known, true), parameter.getIndex());
    }

    /** The types of all; 42P18 when one stayed open. */
    public List<DataType> decided() {
        for (int i = 0; i < types.size(); i++) {
            if (types.get(i).kind() == Kind.NULL) {
                throw MillraceException.user(
                        SqlState.INDETERMINATE_DATATYPE, "could not determine data type of parameter $" + (i + 1));
            }
        }
        return List.copyOf(types);
    }
}
