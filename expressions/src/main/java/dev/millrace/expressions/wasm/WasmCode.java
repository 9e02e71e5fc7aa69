package dev.millrace.expressions.wasm;

import com.dylibso.chicory.compiler.InterpreterFallback;
import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.AnnotatedInstruction;
import com.dylibso.chicory.wasm.types.Export;
import com.dylibso.chicory.wasm.types.ExternalType;
import com.dylibso.chicory.wasm.types.FunctionBody;
import com.dylibso.chicory.wasm.types.Import;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import com.dylibso.chicory.wasm.types.ValType;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A module of WebAssembly (core specification 2.0 and what Chicory knows beyond), read, validated and compiled. Safe on any thread.
 *
 * <p>What is refused is what could reach out, or hold more of the process than {@link #MOST_PAGES} and {@link #MOST_ELEMENTS} say:
 * imports, memory that threads share, and values that the runtime's heap would hold (tables that grow, structs and arrays).
 */
public final class WasmCode {
    /** Bytes of a module. */
    public static final int MOST_BYTES = 4 << 20;

    /** Pages of 64 KB of an instance's memory. */
    public static final int MOST_PAGES = 256;

    private static final int MOST_ELEMENTS = 1 << 16; // of all tables
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_.$-]{1,200}");

    private final WasmModule module;
    private final Function<Instance, Machine> machines;

    private WasmCode(WasmModule module) {
        this.module = module;
        refuse();
        this.machines = MachineFactoryCompiler.builder(module)
                .withInterpreterFallback(InterpreterFallback.SILENT) // what is too large for a method of Java
                .compile();
    }

    /**
     * Reads a module. That takes as long as it is large: seconds at most.
     *
     * @throws MillraceException 42P13 if it is none, or asks for what no function is given
     */
    public static WasmCode of(byte[] bytes) {
        if (bytes.length > MOST_BYTES) {
            throw invalid("a module has " + MOST_BYTES + " bytes at most, and this one " + bytes.length);
        }
        return guarded(() -> new WasmCode(Parser.parse(bytes)));
    }

    /** Whatever the runtime stumbles over in a module is the module's fault. */
    private static <T> T guarded(Supplier<T> step) {
        try {
            return step.get();
        } catch (MillraceException e) {
            throw e;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError | AssertionError e) {
            throw invalid("this is no module of WebAssembly that can be run: " + reason(e));
        }
    }

    private void refuse() {
        if (module.importSection().importCount() > 0) {
            throw invalid("a function is given nothing, but the module imports "
                            + module.importSection().stream()
                                    .limit(10)
                                    .map(WasmCode::name)
                                    .collect(Collectors.joining(", ")))
                    .withHint("build it without a system interface, as for wasm32-unknown-unknown");
        }
        module.memorySection().ifPresent(memories -> {
            for (int i = 0; i < memories.memoryCount(); i++) {
                MemoryLimits limits = memories.getMemory(i).limits();
                if (memories.memoryCount() > 1 || limits.shared() || limits.initialPages() > MOST_PAGES) {
                    throw invalid("a module has one memory of " + MOST_PAGES
                            + " pages at most, which no thread shares, and this one "
                            + (memories.memoryCount() > 1
                                    ? memories.memoryCount() + " memories"
                                    : limits.shared() ? "a shared one" : "begins with " + limits.initialPages()));
                }
            }
        });
        long elements = 0;
        for (int i = 0; i < module.tableSection().tableCount(); i++) {
            elements += Math.max(1, module.tableSection().getTable(i).limits().min());
        }
        if (elements > MOST_ELEMENTS) {
            throw invalid("the module's tables have more than " + MOST_ELEMENTS + " elements");
        }
        for (FunctionBody body : module.codeSection().functionBodies()) {
            for (AnnotatedInstruction instruction : body.instructions()) {
                refuse(instruction.opcode().name());
            }
        }
    }

    private static void refuse(String opcode) {
        if (opcode.equals("TABLE_GROW") || opcode.startsWith("STRUCT_NEW") || opcode.startsWith("ARRAY_NEW")) {
            throw invalid("instruction " + opcode.toLowerCase(Locale.ROOT).replaceFirst("_", ".")
                            + " takes memory that is not the module's")
                    .withHint("linear memory is there");
        }
    }

    private static String name(Import each) {
        return each.importType().toString().toLowerCase(Locale.ROOT) + " \"" + each.module() + "\".\"" + each.name()
                + "\"";
    }

    /**
     * Checks that an exported function takes and gives what a function of SQL does.
     *
     * @throws MillraceException 42P13 if it is not there, or another; 0A000 for a type that has no form here
     */
    public void check(String export, List<DataType> arguments, DataType returns) {
        String wanted = arguments.stream().map(WasmCode::parameter).collect(Collectors.joining(", ", "(", ") -> "))
                + result(returns);
        String given = guarded(() -> signature(export))
                .orElseThrow(() -> invalid("the module exports no function \"" + export + "\"" + exported())
                        .withHint("names are of letters, digits and _ . $ -"));
        if (!given.equals(wanted)) {
            throw invalid("export \"" + export + "\" is " + given + ", but types "
                            + arguments.stream().map(DataType::toString).collect(Collectors.joining(", ", "(", ")"))
                            + " and result " + returns + " need " + wanted)
                    .withHint("docs/functions.md says which type is which");
        }
        boolean passes = arguments.stream().anyMatch(WasmCode::isBytes);
        if (passes || isBytes(returns)) {
            if (module.memorySection().isEmpty()) {
                throw invalid("text and bytea are passed in memory, which the module does not have");
            }
            require(WasmInstance.ALLOC, "(i32) -> i32", passes);
            require(WasmInstance.FREE, "(i32, i32) -> ()", false);
        }
    }

    private void require(String export, String wanted, boolean must) {
        Optional<String> given = guarded(() -> signature(export));
        if (given.isEmpty() ? must : !given.get().equals(wanted)) {
            throw invalid("text and bytea are passed in memory, for which export \"" + export + "\" is to be " + wanted
                    + given.map(is -> ", not " + is).orElse(""));
        }
    }

    private String exported() {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < module.exportSection().exportCount() && names.length() < 200; i++) {
            Export each = module.exportSection().getExport(i);
            if (each.exportType() == ExternalType.FUNCTION) {
                names.append(names.length() == 0 ? ", but " : ", ")
                        .append('"')
                        .append(each.name())
                        .append('"');
            }
        }
        return names.toString();
    }

    private Optional<String> signature(String export) {
        if (!PLAIN.matcher(export).matches()) {
            return Optional.empty();
        }
        return index(export).map(index -> {
            var type = module.functionSection().getFunctionType(index, module.typeSection());
            return types(type.params()) + " -> "
                    + (type.returns().size() == 1 ? name(type.returns().get(0)) : types(type.returns()));
        });
    }

    /** The number of an exported function; nothing is imported, so that it is that of its body, too. */
    Optional<Integer> index(String export) {
        for (int i = 0; i < module.exportSection().exportCount(); i++) {
            Export each = module.exportSection().getExport(i);
            if (each.exportType() == ExternalType.FUNCTION && each.name().equals(export)) {
                return Optional.of(each.index());
            }
        }
        return Optional.empty();
    }

    private static String types(List<ValType> types) {
        return types.stream().map(WasmCode::name).collect(Collectors.joining(", ", "(", ")"));
    }

    private static String name(ValType type) {
        return type.name().toLowerCase(Locale.ROOT);
    }

    /** Whether values of a type are passed as an address and a length. */
    public static boolean isBytes(DataType type) {
        return switch (type.kind()) {
            case TEXT, VARCHAR, BYTEA -> true;
            default -> false;
        };
    }

    private static String parameter(DataType type) {
        return isBytes(type) ? "i32, i32" : result(type);
    }

    private static String result(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, DATE -> "i32";
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> "i64";
            case REAL -> "f32";
            case DOUBLE -> "f64";
            case TEXT, VARCHAR, BYTEA -> "i64";
            case NUMERIC, BIGNUM, CHAR, INTERVAL, UUID, JSONB, ARRAY, ROW, NULL ->
                throw MillraceException.notAvailableYet("type " + type + " for a function in WebAssembly")
                        .withHint(
                                "numbers, boolean, dates, times, text and bytea are; cast the argument, or the result");
        };
    }

    /**
     * A new instance with a memory of its own. Its start function runs now.
     *
     * @throws RuntimeException or Error as {@link WasmInstance#call} does
     */
    public WasmInstance instantiate() {
        Instance instance = Instance.builder(module)
                .withMachineFactory(machines)
                .withMemoryFactory(limits -> new ByteArrayMemory(
                        new MemoryLimits(limits.initialPages(), Math.min(limits.maximumPages(), MOST_PAGES))))
                .build();
        return new WasmInstance(this, instance);
    }

    private static MillraceException invalid(String message) {
        return MillraceException.user(SqlState.INVALID_FUNCTION_DEFINITION, message);
    }

    /** What a failure of the runtime says. */
    public static String reason(Throwable failure) {
        if (failure instanceof StackOverflowError) {
            return "its calls nest too deeply";
        }
        String message = failure.getMessage();
        return message == null || message.isEmpty() ? failure.getClass().getSimpleName() : message;
    }
}
