# cmake -D COMPILER=c++ -D SOURCE=file.cc -D ROOT=dir -D CASES=list [-D ERROR=regex] -P this
# Succeeds when the good lines of the cases compile or, with ERROR, when the bad line of the case
# fails with the error it must have.
list(TRANSFORM CASES PREPEND -DCASE_)
set(command "${COMPILER}" -std=c++20 -fsyntax-only "-I${ROOT}" ${CASES})
if(NOT DEFINED ERROR)
  execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "a good line does not compile:\n${output}")
  endif()
  return()
endif()
execute_process(COMMAND ${command} -DMUST_NOT_COMPILE "${SOURCE}"
  RESULT_VARIABLE result ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${CASES}: the bad line compiles")
elseif(NOT output MATCHES "error: [^\n]*(${ERROR})")
  message(FATAL_ERROR "${CASES}: the bad line fails for another reason than '${ERROR}':\n${output}")
endif()
